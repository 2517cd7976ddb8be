#!/bin/sh
# Checks slug.sh with a few titles.
failed=0

check() {
    found=$(sh ./slug.sh "$1")
    if [ "$found" = "$2" ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1: expected $2, found $found"
        failed=1
    fi
}

check "Hello World" "hello-world"
check "Ferris  the   Crab" "ferris-the-crab"
check "What's new?" "whats-new"

exit $failed
