//! Programs that work on files: the system's own, archivers, compressors, and what fetches and compares.

use super::text;
use crate::transparent::guest::{Guest, Line, PLAIN};

const FILE: Guest = Guest { input: text, package: "coreutils", ..PLAIN };

const fn shell(name: &'static str, package: &'static str, line: &'static str) -> Guest {
    Guest { name, package, command: Line::Shell(line), ..FILE }
}

pub(super) static ALL: &[Guest] = &[
    Guest { name: "cat", command: Line::Words(&["cat", "text", "missing"]), ..FILE },
    Guest { name: "cp", command: Line::Words(&["cp", "-a", "tree", "copy"]), ..FILE },
    Guest {
        name: "dd",
        command: Line::Words(&["dd", "if=text", "of=out", "bs=999", "conv=fsync", "status=none"]),
        ..FILE
    },
    Guest {
        name: "sort",
        command: Line::Words(&["sort", "-r", "-S", "16k", "--parallel=2", "-o", "text", "text"]),
        ..FILE
    },
    shell("find", "findutils", "find tree -type f -size +3k -exec cksum {} + | sort"),
    shell("grep", "grep", "grep -rn 'line 19.*9' text tree; grep -c absent text"),
    shell("sed", "sed", "sed -i.old -e 's/line/row/' text && cksum text text.old"),
    shell("awk", "mawk", "awk '{ sum += $2; print $2 > \"numbers\" } END { print sum }' text"),
    shell(
        "diff_and_patch",
        "patch",
        "patch --version >/dev/null; sed 's/line 7/row 7/' text > other; diff -u text other > change; patch text < change",
    ),
    shell("xargs", "findutils", "seq 40 | xargs -P 4 -n 5 sh -c 'echo \"$@\" > out.$1' sh"),
    shell(
        "tar",
        "tar",
        "tar --mtime=@0 -czf all.tgz tree text && mkdir new && tar -xzf all.tgz -C new && ls -R new",
    ),
    shell(
        "cpio",
        "cpio",
        "find tree | cpio -o --quiet -H newc > all.cpio; mkdir new; cd new && cpio -id --quiet < ../all.cpio",
    ),
    shell("gzip", "gzip", "gzip -9 -n text && gunzip -c text.gz | cksum"),
    shell("bzip2", "bzip2", "bzip2 -k text && bunzip2 -c text.bz2 | cksum"),
    shell("xz", "xz-utils", "xz -T2 -k text && xz -dc text.xz | cksum"),
    shell("zstd", "zstd", "zstd -q -T2 text && zstd -dqc text.zst | cksum"),
    shell(
        "zip",
        "zip",
        "zip -qrX all.zip tree text && mkdir new && unzip -q all.zip -d new && ls -R new",
    ),
    shell(
        "rsync",
        "rsync",
        "rsync -a tree/ copy/ && echo more >> tree/new && rsync -ac --delete tree/ copy/ && ls -R copy",
    ),
    shell(
        "git",
        "git",
        "git init -q -b main r && cd r && cp -r ../tree ../text . && git add . && \
        GIT_AUTHOR_DATE=@0 GIT_COMMITTER_DATE=@0 git -c user.name=n -c user.email=e commit -qm m && git gc -q && git fsck && cd .. && \
        git clone -q r copy && git -C copy log --format=%H%s",
    ),
    shell("jq", "jq", "jq -n '[range(1000)] | {sum: add, n: length}' | tee out.json | jq .sum"),
    shell(
        "openssl",
        "openssl",
        "openssl enc -aes-128-cbc -K 00 -iv 00 -in text -out text.enc 2>/dev/null; openssl dgst -sha256 text text.enc",
    ),
    shell(
        "gpg",
        "gpg",
        "gpg --batch --homedir home --pinentry-mode loopback --passphrase x -q -c text; \
        gpg --batch --homedir home --pinentry-mode loopback --passphrase x -q -d text.gpg | cksum; gpgconf --homedir home --kill all",
    ),
    shell(
        "curl",
        "curl",
        "curl -s file://$PWD/text -o copy && cmp text copy; curl -s file://$PWD/absent",
    ),
    Guest {
        name: "loopback",
        package: "wget",
        command: Line::Script("loopback.sh", "wget"),
        ..FILE
    },
];
