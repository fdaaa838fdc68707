//! The linker's options for an extension of Node.

fn main() {
    napi_build::setup();
}
