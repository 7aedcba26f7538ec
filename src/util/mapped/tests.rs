use super::*;

/// Numbers, and their bytes as a file holds them.
fn numbers() -> (Vec<u32>, Vec<u8>) {
    let numbers: Vec<u32> = (0..1000).map(|i| i * 77_777).collect();
    let mut bytes = Vec::new();
    numbers.iter().for_each(|n| n.put(&mut bytes));
    (numbers, bytes)
}

#[test]
fn owned_and_held_read_alike() {
    let (numbers, bytes) = numbers();
    let owned = MappedSlice::from(numbers.clone());
    let pages = MappedFile::hold(&bytes);
    let held: MappedSlice<u32> = MappedSlice::of_pages(&pages, 0..4000).unwrap();
    assert_eq!((&owned[..], &owned), (&numbers[..], &held));
    assert_eq!(held.clone(), held);
    assert_eq!(MappedSlice::<u32>::of_pages(&pages, 4..12).unwrap()[..], numbers[1..3]);
    drop(pages);
    assert!(held.memory_bytes() == 4000 && owned.memory_bytes() >= 4000);
}

#[test]
#[cfg_attr(miri, ignore = "the interpreter maps no files")]
fn mapped_numbers_outlive_their_file() {
    let (numbers, bytes) = numbers();
    let path = std::env::temp_dir().join(format!("interlock-pages-{}", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let mapped = MappedFile::map(&path).unwrap();
    // A deleted file keeps its pages.
    std::fs::remove_file(&path).unwrap();
    let slice: MappedSlice<u32> = MappedSlice::of_pages(&mapped, 0..4000).unwrap();
    drop(mapped);
    assert_eq!((slice.memory_bytes(), &slice[..]), (0, &numbers[..]));
}

/// A pipe that nobody writes to is refused, not waited for.
#[cfg(unix)]
#[test]
#[cfg_attr(miri, ignore = "the interpreter starts no programs")]
fn only_regular_files_are_opened() {
    let folder = std::env::temp_dir().join(format!("interlock-pipes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (pipe, file) = (folder.join("pipe"), folder.join("file"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(&file, b"text").unwrap();
    std::os::unix::fs::symlink("file", folder.join("link")).unwrap();
    for (path, opens) in
        [(&pipe, false), (&folder, false), (&"/dev/null".into(), false), (&file, true), (&folder.join("link"), true)]
    {
        for opened in [open_file(path).map(|_| ()), MappedFile::map(path).map(|_| ())] {
            let said = opened.map_err(|e| e.to_string());
            assert_eq!(said, if opens { Ok(()) } else { Err("it is no regular file".to_owned()) });
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranges_outside_or_of_parts_are_refused() {
    let pages = MappedFile::hold(&[1; 100]);
    assert_eq!(pages.bytes(), [1; 100]);
    assert!(MappedSlice::<u32>::of_pages(&pages, 0..101).is_none());
    assert!(MappedSlice::<u32>::of_pages(&pages, 0..7).is_none());
    assert!(MappedSlice::<u64>::of_pages(&pages, 100..100).unwrap().is_empty());
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 8..4;
    assert!(MappedSlice::<u8>::of_pages(&pages, reversed).is_none());
}

#[test]
fn numbers_that_are_not_aligned_are_copied() {
    let bytes: Vec<u8> = (0..64).collect();
    let pages = MappedFile::hold(&bytes);
    let numbers: MappedSlice<u16> = MappedSlice::of_pages(&pages, 1..5).unwrap();
    assert_eq!(numbers[..], [0x0201, 0x0403]);
}
