;; A circuit with circom 1's exports, written by hand: one input, x; the wires are 1 and x. Tests replace parts of this text.
(module
  (import "runtime" "error" (func $error (param i32 i32 i32 i32 i32 i32)))
  (import "runtime" "log" (func $log (param i32)))
  (memory (export "memory") 1)
  ;; The end of what is allocated, the number of inputs, the tables of components and of bits that mark inputs.
  (data (i32.const 0) "\00\20\00\00")
  (data (i32.const 16) "\01\00\00\00")
  (data (i32.const 36) "\40\00\00\00\00\03\00\00")
  ;; The component: its hash table and signals.
  (data (i32.const 64) "\00\10\00\00\80\00\00\00")
  ;; The signal: its label, the address of its sizes, its kind.
  (data (i32.const 128) "\01\00\00\00\c0\00\00\00\01\00\00\00")
  (data (i32.const 192) "\01\00\00\00")
  ;; The element 1.
  (data (i32.const 256) "\01\00\00\00")
  (data (i32.const 512) "\01\00\00\f0\93\f5\e1\43\91\70\b9\79\48\e8\33\28\5d\58\81\81\b6\45\50\b8\29\a0\31\e1\72\4e\64\30")
  (data (i32.const 768) "\02\00\00\00")
  ;; The slot for the hash of x.
  (data (i32.const 4180) "\07\17\02\86\4c\f5\63\af\00\00\00\00")
  (func (export "getNPublic") (result i32) (i32.const 1))
  (func (export "getFrLen") (result i32) (i32.const 40))
  (func (export "getPRawPrime") (result i32) (i32.const 512))
  (func $init (export "init") (param i32))
  (func (export "setSignal") (param $component_type i32) (param $component i32) (param $label i32) (param $value i32)
    (memory.copy (i32.const 1024) (local.get $value) (i32.const 40)))
  (func (export "getNVars") (result i32) (i32.const 2))
  (func (export "getPWitness") (param $wire i32) (result i32)
    (select (i32.const 1024) (i32.const 256) (local.get $wire)))
)
