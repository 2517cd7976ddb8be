#!/bin/sh
# Turns a title into the last part of a web address.
printf '%s\n' "$1" | tr '[:upper:]' '[:lower:]' | tr -s ' ' '-'
