//! A plugin for QEMU's user-mode emulation of AArch64 that counts executed guest instructions:
//! `qemu-aarch64 -plugin libqemu_count.so -d plugin PROGRAM` prints `instructions N vector M` at the end.
//!
//! It uses version 1 of the plugin interface, that of QEMU 4.2 to 8.2 (Debian 12 has 7.2), and declares the parts that it
//! needs: names and types are those of QEMU's documentation (docs/devel/tcg-plugins). QEMU inlines the code that counts into
//! the translated guest code, so counts are exact and reproducible; guest threads would race.

use std::{
    ffi::{CString, c_char, c_int, c_uint, c_void},
    ptr,
};

/// A block of guest code in translation.
#[repr(C)]
struct Block(c_void);

/// An instruction of a block.
#[repr(C)]
struct Instruction(c_void);

/// The plugin's handle.
type Id = u64;

/// `QEMU_PLUGIN_INLINE_ADD_U64`.
const ADD: c_uint = 0;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: extern "C" fn(Id, *mut Block));
    fn qemu_plugin_register_atexit_cb(id: Id, callback: extern "C" fn(Id, *mut c_void), data: *mut c_void);
    fn qemu_plugin_register_vcpu_insn_exec_inline(
        instruction: *mut Instruction,
        operation: c_uint,
        target: *mut c_void,
        immediate: u64,
    );
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_insn_data(instruction: *const Instruction) -> *const c_void;
    fn qemu_plugin_outs(line: *const c_char);
}

/// The interface's version, which QEMU checks when it loads the plugin.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU's name")]
pub static qemu_plugin_version: c_int = 1;

/// The counts of all instructions, and of those of SVE or Advanced SIMD. Translated code adds to them.
static mut COUNTS: [u64; 2] = [0; 2];

/// The address of count `k`, to which translated code adds.
fn count(k: usize) -> *mut u64 {
    (&raw mut COUNTS).cast::<u64>().wrapping_add(k)
}

/// Whether an instruction computes with or moves vectors: bits 25 to 28 are 0010 (SVE) or x111 (SIMD and floating point), or
/// it is a load or store (x1x0) with bit 26, vector registers, set.
fn is_vector(word: u32) -> bool {
    let group = word >> 25 & 0b1111;
    group == 0b0010 || group & 0b0111 == 0b0111 || (group & 0b0101 == 0b0100 && word >> 26 & 1 == 1)
}

/// Requests counting of every execution of a block's instructions.
extern "C" fn on_translation(_: Id, block: *mut Block) {
    // SAFETY: QEMU's functions are called with objects that QEMU passed, and indices below the number it returned; an
    // AArch64 instruction is four bytes, and the counts are static.
    unsafe {
        for index in 0..qemu_plugin_tb_n_insns(block) {
            let instruction = qemu_plugin_tb_get_insn(block, index);
            let word = qemu_plugin_insn_data(instruction).cast::<u32>().read_unaligned();
            qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, count(0).cast(), 1);
            if is_vector(word) {
                qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, count(1).cast(), 1);
            }
        }
    }
}

/// Prints the counts.
extern "C" fn on_exit(_: Id, _: *mut c_void) {
    // SAFETY: the guest has ended, so nothing adds to the counts any more.
    let [all, vector] = [0, 1].map(|k| unsafe { count(k).read_volatile() });
    if let Ok(line) = CString::new(format!("instructions {all} vector {vector}\n")) {
        // SAFETY: the string ends in zero.
        unsafe { qemu_plugin_outs(line.as_ptr()) };
    }
}

/// The function that QEMU calls after loading the plugin.
#[unsafe(no_mangle)]
pub extern "C" fn qemu_plugin_install(
    id: Id,
    _info: *const c_void,
    _argc: c_int,
    _argv: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU's functions are called with the handle that it passed, and functions that live as long as the plugin.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        qemu_plugin_register_atexit_cb(id, on_exit, ptr::null_mut());
    }
    0
}
