//! An addon for Node: `run`, `add`, `sum` and `strategy`, each of one whole number.
//!
//! Node's interface is found by `dlsym`, so that the same object can be loaded where there is none.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};

type Env = *mut c_void;
type Value = *mut c_void;
type Info = *mut c_void;
type Call = unsafe extern "C" fn(Env, Info) -> Value;

type CreateFunction =
    unsafe extern "C" fn(Env, *const std::ffi::c_char, usize, Call, *mut c_void, *mut Value) -> i32;
type SetNamed = unsafe extern "C" fn(Env, Value, *const std::ffi::c_char, Value) -> i32;
type GetInfo =
    unsafe extern "C" fn(Env, Info, *mut usize, *mut Value, *mut Value, *mut *mut c_void) -> i32;
type GetNumber = unsafe extern "C" fn(Env, Value, *mut i64) -> i32;
type CreateNumber = unsafe extern "C" fn(Env, f64, *mut Value) -> i32;

/// Returns the address of one of Node's functions; ends the process if there is none.
fn found(name: &CStr) -> *mut c_void {
    // SAFETY: a search by name has no effects.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        eprintln!("{name:?} is not here: this is not Node");
        std::process::abort();
    }
    address
}

/// Calls `function` with the first argument of a call, and returns a number to Node.
///
/// # Safety
/// Called by Node, with the two arguments of a callback.
unsafe fn answer(env: Env, info: Info, function: impl FnOnce(u64) -> f64) -> Value {
    let (mut count, mut argument, mut number, mut value) = (1, null_mut(), 0, null_mut());
    // SAFETY: Node's functions have these types (node_api.h), and write to these variables alone.
    unsafe {
        let get_info: GetInfo = transmute(found(c"napi_get_cb_info"));
        let get_number: GetNumber = transmute(found(c"napi_get_value_int64"));
        let create_number: CreateNumber = transmute(found(c"napi_create_double"));
        get_info(env, info, &raw mut count, &raw mut argument, null_mut(), null_mut());
        get_number(env, argument, &raw mut number); // none leaves a zero
        create_number(env, function(i64::unsigned_abs(number)), &raw mut value);
    }
    value
}

unsafe extern "C" fn run(env: Env, info: Info) -> Value {
    // SAFETY: Node calls this.
    unsafe { answer(env, info, |times| f64::from(super::wild_run(times))) }
}

unsafe extern "C" fn add(env: Env, info: Info) -> Value {
    // SAFETY: Node calls this.
    unsafe { answer(env, info, |times| f64::from(super::wild_add(times))) }
}

unsafe extern "C" fn sum(env: Env, info: Info) -> Value {
    // SAFETY: Node calls this.
    unsafe { answer(env, info, |_| super::wild_sum() as f64) }
}

unsafe extern "C" fn strategy(env: Env, info: Info) -> Value {
    // SAFETY: Node calls this.
    unsafe { answer(env, info, |_| f64::from(super::wild_strategy())) }
}

/// Called by Node when it loads the object, in each of its threads.
///
/// # Safety
/// Called by Node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: Env, exports: Value) -> Value {
    let functions: [(&CStr, Call); 4] =
        [(c"run", run), (c"add", add), (c"sum", sum), (c"strategy", strategy)];
    for (name, call) in functions {
        let mut function = null_mut();
        // SAFETY: as in `answer`.
        unsafe {
            let create: CreateFunction = transmute(found(c"napi_create_function"));
            let set: SetNamed = transmute(found(c"napi_set_named_property"));
            create(env, null(), 0, call, null_mut(), &raw mut function);
            set(env, exports, name.as_ptr(), function);
        }
    }
    exports
}

/// Says to Node which version of its interface the addon knows.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    8
}
