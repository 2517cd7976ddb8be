//! Which files can be read and written.

use rein_sandbox::jail::Preference;

use super::{Place, WHOLE, in_each, is_well, run_in};

#[tokio::test]
async fn the_workspace_and_the_temporary_directory_can_be_written() {
    let place = Place::new();
    let text = "echo in > made && cat made && echo $TMPDIR && echo t > $TMPDIR/x && echo t > /var/tmp/y && cat /var/tmp/y";
    for (preference, exit, printed) in in_each(&place, text).await {
        assert!(is_well(&exit), "{preference:?}: {printed}");
        assert_eq!(printed, "in\n/tmp\nt\n", "{preference:?}");
        assert!(!std::path::Path::new("/tmp/x").exists());
    }
    assert_eq!(std::fs::read_to_string(place.work().join("made")).unwrap(), "in\n");
}

#[tokio::test]
async fn nothing_else_can_be_written_by_any_name() {
    let place = Place::new();
    let victim = place.root.join("victim");
    let outside = place.root.display();
    let text = format!(
        "echo x > {outside}/victim; echo x > {outside}/new; rm -f {outside}/victim; mkdir {outside}/d
         ln -s {outside}/victim soft && echo x > soft
         ln -s {outside} way && echo x > way/new
         ln {outside}/victim hard && echo x >> hard
         echo x > /proc/self/root{outside}/victim
         echo x > /proc/1/root{outside}/victim
         echo x > /proc/$$/cwd/../victim
         mv {outside}/victim stolen
         chmod 777 {outside}/victim; touch -d 2001-01-01 {outside}/victim; truncate -s 0 {outside}/victim
         echo x > /etc/rein-test; echo x > /dev/rein-test; echo x > /run/rein-test; echo x > /proc/sys/kernel/hostname
         echo x > $HOME/rein-test; cat {outside}/victim"
    );
    for preference in WHOLE.into_iter().chain([Preference::LandlockAlone]) {
        std::fs::write(&victim, "whole\n").unwrap();
        let before = std::fs::metadata(&victim).unwrap();
        let Some((_, printed)) = run_in(place.jail(preference), &place.work(), &text).await else { continue };
        assert!(printed.ends_with("whole\n"), "it can be read: {preference:?}: {printed}");
        let after = std::fs::metadata(&victim).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "whole\n");
        // Landlock does not know the times and modes of a file.
        if preference != Preference::LandlockAlone {
            assert_eq!(
                (before.modified().unwrap(), before.permissions().readonly()),
                (after.modified().unwrap(), after.permissions().readonly()),
                "{preference:?}: {printed}"
            );
        }
        let mut names: Vec<_> =
            std::fs::read_dir(&place.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["home", "victim", "work"], "{preference:?}: {printed}");
        assert!(
            !std::path::Path::new("/etc/rein-test").exists()
                && !std::path::Path::new("/run/rein-test").exists()
        );
        for made in ["soft", "way", "hard"] {
            let _ = std::fs::remove_file(place.work().join(made));
        }
    }
}

#[tokio::test]
async fn secrets_cannot_be_read() {
    let place = Place::new();
    let home = place.root.join("home");
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id"), "KEY").unwrap();
    std::fs::write(home.join(".netrc"), "KEY").unwrap();
    std::fs::create_dir_all(home.join("elsewhere")).unwrap();
    std::fs::write(home.join("elsewhere/key"), "KEY").unwrap();
    std::os::unix::fs::symlink(home.join("elsewhere"), home.join(".gnupg")).unwrap();
    std::fs::write(home.join("plain"), "plain\n").unwrap();
    let text = format!(
        "cd {}; cat .ssh/id .netrc .gnupg/key elsewhere/key; ls -A .ssh; cat plain; ln -s {0}/.netrc {1}/l; cat {1}/l; \
         cat /proc/self/root{0}/.ssh/id; cp -r .ssh {1}/copy; cat {1}/copy/id; echo x > .ssh/new; mv .netrc {1}/n; cat {1}/n",
        home.display(),
        place.work().display()
    );
    for preference in WHOLE.into_iter().chain([Preference::LandlockAlone]) {
        let Some((_, printed)) = run_in(place.jail(preference), &place.work(), &text).await else { continue };
        assert!(!printed.contains("KEY") && printed.contains("plain\n"), "{preference:?}: {printed}");
    }
    assert!(!home.join(".ssh/new").exists());
}

#[tokio::test]
async fn a_temporary_directory_of_the_conversation_is_kept_between_processes() {
    let place = Place::new();
    let private = place.root.join("private");
    std::fs::create_dir(&private).unwrap();
    for preference in WHOLE.into_iter().chain([Preference::LandlockAlone]) {
        let mut jail = place.jail(preference);
        jail.temporary.directory = Some(private.clone());
        let Some((exit, printed)) = run_in(jail.clone(), &place.work(), "echo kept > $TMPDIR/file").await
        else {
            continue;
        };
        assert!(is_well(&exit), "{preference:?}: {printed}");
        let (_, printed) = run_in(jail, &place.work(), "cat $TMPDIR/file; rm $TMPDIR/file").await.unwrap();
        assert_eq!(printed, "kept\n", "{preference:?}");
    }
}

#[tokio::test]
async fn a_workspace_below_the_temporary_directory_works() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let work = directory.path().canonicalize().unwrap();
    for preference in WHOLE {
        let mut jail = rein_sandbox::jail::Jail::standard(&rein_sandbox::jail::JailRequest::new(&work));
        jail.preference = preference;
        let Some((exit, printed)) = run_in(jail, &work, "echo x > file; ls -A /tmp | wc -l").await else {
            continue;
        };
        assert!(is_well(&exit));
        assert_eq!(printed, "1\n", "nothing else of it is there");
        assert_eq!(std::fs::read_to_string(work.join("file")).unwrap(), "x\n");
    }
}
