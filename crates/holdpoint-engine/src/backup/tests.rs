use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use holdpoint_core::PathVerb;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

struct Scene {
    _place: TempDir,
    work: PathBuf,
    backups: Backups,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let work = root.join("work");
        fs::create_dir(&work).unwrap();
        Self {
            _place: place,
            work,
            backups: Backups {
                directory: root.join("state/backups"),
                limits: Limits::default(),
            },
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.work.join(name).to_str().unwrap().to_owned()
    }

    fn make(&self, paths: &[(&str, PathVerb)]) -> Result<Manifest, BackupError> {
        let paths: Vec<(String, PathVerb)> = paths
            .iter()
            .map(|(name, verb)| (self.path(name), *verb))
            .collect();
        self.backups.make(&Wanted {
            call: "sha256:0",
            about: "a test",
            paths: &paths,
            unknown: &[],
        })
    }

    fn undo(&self, id: &str) -> Result<Restored, BackupError> {
        let manifest = self.backups.find_by_prefix(id)?;
        let plan = self.backups.plan(&manifest)?;
        self.backups.restore(&manifest, &plan)
    }

    /// Everything there is, with contents, modes and targets.
    fn look(&self) -> Vec<(PathBuf, Kind)> {
        let reach = crate::walk_tree::Reach {
            entries: 10_000,
            until: None,
        };
        let tree = crate::walk_tree::walk_tree(&self.work, reach);
        tree.entries
            .into_iter()
            .map(|(path, _)| (path.clone(), state::now(&path).unwrap()))
            .collect()
    }
}

#[test]
fn a_removed_tree_comes_back_as_it_was_and_goes_again() {
    let scene = Scene::new();
    scene.write("build/a", "one");
    scene.write("build/deep/b", "two");
    fs::create_dir(scene.work.join("build/empty")).unwrap();
    symlink("../elsewhere", scene.work.join("build/link")).unwrap();
    fs::set_permissions(
        scene.work.join("build/a"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let before = scene.look();
    let manifest = scene.make(&[("build", PathVerb::Delete)]).unwrap();
    assert_eq!((manifest.copied(), manifest.bytes), (6, 6));
    fs::remove_dir_all(scene.work.join("build")).unwrap();
    let restored = scene.undo(&manifest.id).unwrap();
    assert_eq!(restored.changed, 6);
    assert_eq!(scene.look(), before);
    // Undoing is undone.
    scene.undo(&restored.kept).unwrap();
    assert!(!scene.work.join("build").exists());
}

#[test]
fn an_overwritten_file_comes_back_and_a_new_one_goes() {
    let scene = Scene::new();
    scene.write("old", "before");
    let manifest = scene
        .make(&[("old", PathVerb::Write), ("new", PathVerb::Write)])
        .unwrap();
    scene.write("old", "after");
    scene.write("new", "new");
    let restored = scene.undo(&manifest.id).unwrap();
    assert_eq!(
        fs::read_to_string(scene.work.join("old")).unwrap(),
        "before"
    );
    assert!(!scene.work.join("new").exists());
    scene.undo(&restored.kept).unwrap();
    assert_eq!(fs::read_to_string(scene.work.join("old")).unwrap(), "after");
    assert_eq!(fs::read_to_string(scene.work.join("new")).unwrap(), "new");
    // Nothing of ours is left lying about.
    assert_eq!(scene.look().len(), 3);
}

#[test]
fn what_is_new_in_a_written_directory_goes_and_in_a_removed_one_stays() {
    let scene = Scene::new();
    scene.write("written/a", "1");
    scene.write("removed/a", "1");
    let manifest = scene
        .make(&[("written", PathVerb::Write), ("removed", PathVerb::Delete)])
        .unwrap();
    scene.write("written/sub/new", "x");
    fs::remove_dir_all(scene.work.join("removed")).unwrap();
    scene.write("removed/mine", "x");
    let plan = scene.backups.plan(&manifest).unwrap();
    let paths: Vec<&Path> = plan
        .changes
        .iter()
        .map(|change| change.path.as_path())
        .collect();
    assert_eq!(
        paths,
        [scene.work.join("removed/a"), scene.work.join("written/sub")]
    );
    scene.backups.restore(&manifest, &plan).unwrap();
    assert!(!scene.work.join("written/sub").exists());
    assert!(scene.work.join("removed/mine").exists());
    assert!(scene.work.join("removed/a").exists());
}

#[test]
fn a_file_where_a_directory_was_gives_way_and_the_other_way_round() {
    let scene = Scene::new();
    scene.write("a/x", "1");
    scene.write("b", "2");
    let before = scene.look();
    let manifest = scene
        .make(&[("a", PathVerb::Write), ("b", PathVerb::Write)])
        .unwrap();
    fs::remove_dir_all(scene.work.join("a")).unwrap();
    fs::remove_file(scene.work.join("b")).unwrap();
    scene.write("a", "now a file");
    scene.write("b/y", "now a directory");
    scene.undo(&manifest.id).unwrap();
    assert_eq!(scene.look(), before);
}

#[test]
fn patterns_are_copied_and_what_nobody_knows_is_told() {
    let scene = Scene::new();
    for name in ["a.o", "sub/b.o", "c.c", "tool.conf"] {
        scene.write(name, name);
    }
    let manifest = scene
        .make(&[
            ("**/*.o", PathVerb::Delete),
            ("tool.conf", PathVerb::Unknown),
            ("sub", PathVerb::Unknown),
            ("nothing", PathVerb::Unknown),
            ("c.c", PathVerb::Read),
        ])
        .unwrap();
    let names: Vec<_> = manifest
        .entries
        .iter()
        .map(|entry| {
            entry
                .path
                .as_path()
                .strip_prefix(&scene.work)
                .unwrap()
                .to_str()
                .unwrap()
        })
        .collect();
    assert_eq!(names, ["a.o", "sub/b.o", "tool.conf"]);
    assert_eq!(manifest.left_out, [scene.path("sub")]);
}

//
#[test]
fn equal_files_are_kept_once_and_for_this_user_alone() {
    let scene = Scene::new();
    for number in 0..5 {
        scene.write(&format!("d/{number}"), "the same");
    }
    scene.make(&[("d", PathVerb::Delete)]).unwrap();
    scene.make(&[("d", PathVerb::Delete)]).unwrap();
    let reach = crate::walk_tree::Reach {
        entries: 1000,
        until: None,
    };
    let kept = crate::walk_tree::walk_tree(&scene.backups.directory, reach).entries;
    let files = kept.iter().filter(|(_, found)| found.is_file());
    assert_eq!(files.clone().count(), 3, "one object, two manifests");
    for (path, found) in &kept {
        assert_eq!(state::mode(found) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn too_much_is_refused_before_anything_is_copied() {
    let scene = Scene::new();
    for number in 0..20 {
        scene.write(&format!("d/{number}"), "0123456789");
    }
    let limited = |bytes, entries| {
        let backups = scene.backups.clone().limited(Limits { bytes, entries });
        let paths = [(scene.path("d"), PathVerb::Delete)];
        let wanted = Wanted {
            call: "",
            about: "",
            paths: &paths,
            unknown: &[],
        };
        backups.make(&wanted).map_err(|error| error.to_string())
    };
    let many = limited(1000, 10).unwrap_err();
    assert!(
        many.starts_with("what the call would change has more than 10 files"),
        "{many}"
    );
    let large = limited(150, 100).unwrap_err();
    assert!(
        large.starts_with("what the call would change has more than 150 bytes"),
        "{large}"
    );
    assert!(!scene.backups.directory.exists());
    assert!(limited(200, 21).is_ok());
}

#[test]
fn links_are_copied_as_links() {
    let scene = Scene::new();
    scene.write("secret/key", "x");
    fs::create_dir(scene.work.join("d")).unwrap();
    symlink("../secret", scene.work.join("d/link")).unwrap();
    let manifest = scene.make(&[("d", PathVerb::Delete)]).unwrap();
    assert_eq!(manifest.entries.len(), 2);
    assert_eq!(manifest.bytes, 0);
}

#[test]
fn a_link_that_came_meanwhile_does_not_lead_a_restored_file_elsewhere() {
    let scene = Scene::new();
    scene.write("d/x", "before");
    scene.write("other/x", "mine");
    let manifest = scene.make(&[("d/x", PathVerb::Write)]).unwrap();
    fs::remove_dir_all(scene.work.join("d")).unwrap();
    symlink("other", scene.work.join("d")).unwrap();
    assert!(matches!(
        scene.undo(&manifest.id),
        Err(BackupError::Moved(_))
    ));
    assert_eq!(
        fs::read_to_string(scene.work.join("other/x")).unwrap(),
        "mine"
    );
}

#[test]
fn a_backup_that_was_interrupted_does_not_exist() {
    let scene = Scene::new();
    scene.write("a", "1");
    let manifest = scene.make(&[("a", PathVerb::Write)]).unwrap();
    // What is left by a process that ends before its manifest is whole.
    let manifests = scene.backups.manifests();
    fs::write(manifests.join("20261116-000000-abcdef0.draft-1"), "{").unwrap();
    fs::write(scene.backups.directory.join("objects/draft-1"), "x").unwrap();
    let listed = scene.backups.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(scene.backups.newest().unwrap(), manifest);
    // An object cut short is written again.
    let Kind::File { object, .. } = &manifest.entries[0].kind else {
        panic!("{manifest:?}")
    };
    let place = scene
        .backups
        .directory
        .join("objects")
        .join(object.get(..2).unwrap())
        .join(object.get(2..).unwrap());
    fs::write(&place, "").unwrap();
    scene.write("a", "2");
    assert!(matches!(
        scene.undo(&manifest.id),
        Err(BackupError::Lost(_))
    ));
    assert_eq!(fs::read_to_string(scene.work.join("a")).unwrap(), "2");
    scene.write("a", "1");
    scene.make(&[("a", PathVerb::Write)]).unwrap();
    scene.write("a", "2");
    scene.undo(&manifest.id).unwrap();
    assert_eq!(fs::read_to_string(scene.work.join("a")).unwrap(), "1");
}

#[test]
fn names_are_found_by_their_start_and_nothing_else_is_read() {
    let scene = Scene::new();
    assert!(matches!(scene.backups.newest(), Err(BackupError::None)));
    scene.write("a", "1");
    let one = scene.make(&[("a", PathVerb::Write)]).unwrap();
    assert_eq!(scene.backups.find_by_prefix(&one.id).unwrap(), one);
    assert_eq!(
        scene
            .backups
            .find_by_prefix(one.id.get(..17).unwrap())
            .unwrap(),
        one
    );
    for wrong in ["", "../x", "zz"] {
        let found = scene.backups.find_by_prefix(wrong);
        assert!(matches!(found, Err(BackupError::NotFound(_))), "{wrong}");
    }
    scene.make(&[("a", PathVerb::Write)]).unwrap();
    let found = scene.backups.find_by_prefix(one.id.get(..8).unwrap());
    assert!(matches!(found, Err(BackupError::Ambiguous(_))));
}

#[test]
fn a_pipe_cannot_be_copied_and_is_not_waited_for() {
    let scene = Scene::new();
    let pipe = scene.work.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let found = scene.make(&[("pipe", PathVerb::Write)]);
    assert!(matches!(found, Err(BackupError::Special(_))));
}

#[test]
fn a_link_comes_back_where_a_full_directory_took_its_place() {
    let scene = Scene::new();
    let root = scene.work.join("w");
    fs::create_dir(&root).unwrap();
    symlink("nowhere", root.join("d")).unwrap();
    let first = scene.look();
    let manifest = scene.make(&[("w", PathVerb::Write)]).unwrap();
    fs::remove_file(root.join("d")).unwrap();
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("d/a"), "new").unwrap();
    scene.undo(&manifest.id).unwrap();
    assert_eq!(scene.look(), first);
}

#[test]
fn a_directory_comes_back_where_a_link_took_its_place() {
    for target in ["nowhere", "../other"] {
        let scene = Scene::new();
        let root = scene.work.join("w");
        fs::create_dir_all(root.join("d")).unwrap();
        fs::write(root.join("d/a"), "old").unwrap();
        fs::create_dir(scene.work.join("other")).unwrap();
        fs::write(scene.work.join("other/a"), "not its own").unwrap();
        let first = scene.look();
        let manifest = scene.make(&[("w", PathVerb::Write)]).unwrap();
        fs::remove_dir_all(root.join("d")).unwrap();
        symlink(target, root.join("d")).unwrap();
        let second = scene.look();
        let restored = scene.undo(&manifest.id).unwrap();
        assert_eq!(scene.look(), first);
        scene.undo(&restored.kept).unwrap();
        assert_eq!(scene.look(), second);
        let other = fs::read_to_string(scene.work.join("other/a")).unwrap();
        assert_eq!(other, "not its own");
    }
}

/// One thing that may happen to a directory.
#[derive(Clone, Debug)]
enum Happening {
    Write(usize, u8),
    Remove(usize),
    Directory(usize),
    Link(usize),
    Mode(usize),
}

const NAMES: [&str; 6] = ["a", "b", "d", "d/a", "d/e", "d/e/f"];

fn happening() -> impl Strategy<Value = Happening> {
    let name = 0..NAMES.len();
    prop_oneof![
        3 => (name.clone(), any::<u8>()).prop_map(|(name, text)| Happening::Write(name, text)),
        2 => name.clone().prop_map(Happening::Remove),
        2 => name.clone().prop_map(Happening::Directory),
        1 => name.clone().prop_map(Happening::Link),
        1 => name.prop_map(Happening::Mode),
    ]
}

fn happen(root: &Path, what: &Happening) {
    // Whatever cannot be done just does not happen.
    let at = |name: &usize| root.join(NAMES[*name]);
    let _ = match what {
        Happening::Write(name, text) => fs::write(at(name), text.to_string()),
        Happening::Remove(name) => match at(name).is_dir() && !at(name).is_symlink() {
            true => fs::remove_dir_all(at(name)),
            false => fs::remove_file(at(name)),
        },
        Happening::Directory(name) => fs::create_dir(at(name)),
        Happening::Link(name) => symlink("nowhere", at(name)),
        Happening::Mode(name) => match at(name).is_file() {
            true => fs::set_permissions(at(name), fs::Permissions::from_mode(0o640)),
            false => Ok(()),
        },
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_happens_is_undone_and_redone(
        before in prop::collection::vec(happening(), 0..12),
        after in prop::collection::vec(happening(), 0..12),
    ) {
        let scene = Scene::new();
        fs::create_dir(scene.work.join("w")).unwrap();
        let root = scene.work.join("w");
        before.iter().for_each(|what| happen(&root, what));
        let first = scene.look();
        let manifest = scene.make(&[("w", PathVerb::Write)]).unwrap();
        after.iter().for_each(|what| happen(&root, what));
        let second = scene.look();
        let restored = scene.undo(&manifest.id).unwrap();
        prop_assert_eq!(scene.look(), first);
        scene.undo(&restored.kept).unwrap();
        prop_assert_eq!(scene.look(), second);
    }
}
