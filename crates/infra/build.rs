//! Has the migrations that travel inside the program looked at again when one of them is added:
//! cargo knows of those alone that were there before.

fn main() {
    println!("cargo::rerun-if-changed=../../migrations");
}
