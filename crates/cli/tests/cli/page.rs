//! Pages as files: charts of a user, and runs side by side.

use std::fs;

use crate::netra::Place;

const VIEW: &str = "title = \"Opens\"\nfrom = \"files\"\n\n[chart]\nkind = \"bars\"\nx = \"path\"\n\n[[series]]\nname = \"opens\"\nvalue = \"opens\"\n";

#[test]
fn a_chart_of_the_user_is_in_the_page() {
    let place = Place::with_example();
    place.file("config/netra/views/opens.toml", VIEW.as_bytes());
    let mut command = place.command(&["report", "wave.darshan", "--html", "wave.html"]);
    let done = command.env("XDG_CONFIG_HOME", place.path("config")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let page = fs::read_to_string(place.path("wave.html")).unwrap();
    assert!(page.contains("\"slug\":\"opens\",\"title\":\"Opens\""));
    assert!(page.contains("\"slug\":\"layer-time\""), "the shipped charts are still there");
}

#[test]
fn a_wrong_chart_is_said_with_its_line_and_no_page_is_made() {
    let place = Place::with_example();
    place.file("mine.toml", VIEW.replace("\"opens\"\n", "\"openings\"\n").as_bytes());
    let done = place.netra(&["report", "wave.darshan", "--html", "w.html", "--view", "mine.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.err.contains("mine.toml:10: there is no column `openings` in files"),
        "{}",
        done.err
    );
    assert!(!place.path("w.html").exists());
}

#[test]
fn runs_stand_on_one_page() {
    let place = Place::with_example();
    let done = place.netra(&["compare", "wave.darshan", "wave.darshan", "--html", "runs.html"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let page = fs::read_to_string(place.path("runs.html")).unwrap();
    assert_eq!(page.matches("id=\"detail-").count(), 2);
    assert!(page.contains("No difference to speak of"));
    let nine = ["wave.darshan"; 9];
    let done = place.netra(&[&["compare", "--html", "x.html"], &nine[..]].concat());
    assert_eq!(done.code, 2);
    assert!(done.err.contains("9 runs do not fit on one page"), "{}", done.err);
}
