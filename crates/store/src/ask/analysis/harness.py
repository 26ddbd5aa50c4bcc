"""Runs one analysis module: standard input brings what it needs, standard output takes what it made.

The first line of the input is JSON: what to do (`describe` or `run`), the module's source, its parameters and limits.
Behind it comes one Arrow stream for each input. The first line of the output is JSON, too: what was found, or an error
with its line. Behind it comes the table.

The module can read Python's own libraries and nothing else of the file system; it can not start a process, open a
connection or raise its limits. All this is set before its first line is looked at.
"""
import ast
import ctypes
import errno
import json
import os
import platform
import struct
import sys

KINDS = {
    "str": "text", "int": "int", "float": "float", "bool": "bool", "datetime": "time",
    "list[int]": "ints", "list[str]": "texts", "List[int]": "ints", "List[str]": "texts",
}
OF_VALUES = ((bool, "bool"), (int, "int"), (float, "float"), (str, "text"))


class Wrong(Exception):
    """Something in the module is not as it should be."""

    def __init__(self, says, line=None):
        super().__init__(says)
        self.line = line


def describe(source, path):
    """What a module declares. It is read, not run."""
    tree = ast.parse(source, path)
    inputs, function = None, None
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(one, "id", None) == "inputs" for one in node.targets):
            try:
                inputs = ast.literal_eval(node.value)
            except ValueError:
                raise Wrong("inputs is not written out: a dictionary of texts and dictionaries", node.lineno)
        if isinstance(node, ast.FunctionDef) and node.name == "analyse":
            function = node
    if not isinstance(inputs, dict) or not inputs or not all(isinstance(name, str) for name in inputs):
        raise Wrong('inputs is missing: inputs = {"calls": "SELECT …"}')
    if function is None:
        raise Wrong("the function analyse is missing: def analyse(calls, job: str): …")
    about = (ast.get_docstring(tree) or "").strip()
    return {"about": about, "inputs": inputs, "parameters": parameters(function, inputs)}


def parameters(function, inputs):
    """The arguments of the function that are no inputs, with their types and defaults."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        raise Wrong("analyse takes its inputs and parameters by name", function.lineno)
    plain = list(zip(arguments.args, [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults))
    found, taken = [], set()
    for argument, default in plain + list(zip(arguments.kwonlyargs, arguments.kw_defaults)):
        if argument.arg in inputs:
            taken.add(argument.arg)
            continue
        try:
            value = None if default is None else ast.literal_eval(default)
        except ValueError:
            raise Wrong(f"the default of {argument.arg} is not written out", argument.lineno)
        found.append({
            "name": argument.arg, "type": kind(argument, value),
            "required": default is None, "default": value,
        })
    for name in inputs:
        if name not in taken:
            raise Wrong(f"analyse does not take the input {name}", function.lineno)
    return found


def kind(argument, value):
    """The type of a parameter: as it is written, else that of its default."""
    if argument.annotation is None:
        return next((name for of, name in OF_VALUES if isinstance(value, of)), "text")
    note = argument.annotation
    written = note.value if isinstance(note, ast.Constant) else ast.unparse(note)
    written = str(written).replace(" ", "").replace("typing.", "").replace("datetime.datetime", "datetime")
    if written.startswith("Optional[") and written.endswith("]"):
        written = written[len("Optional["):-1]
    written = written.replace("|None", "").replace("None|", "")
    if written not in KINDS:
        raise Wrong(f"{argument.arg} has the type {written}; types are {', '.join(sorted(KINDS))}", argument.lineno)
    return KINDS[written]


# Calls of the kernel that a module has no use for, by machine: number of seccomp, of clone, of clone3, of prlimit64, of
# tgkill, and those that are refused: processes, connections, signals, limits, mounts, the memory of others, and what would
# stay in the kernel when the module has ended (shared memory, queues).
CALLS = {
    "x86_64": (0xC000003E, 317, 56, 435, 302, 234, [
        29, 41, 42, 49, 50, 57, 58, 59, 62, 64, 68, 101, 129, 160, 165, 166, 200, 240, 272, 297, 308, 310, 311, 321, 322, 424,
        425, 434, 438,
    ]),
    "aarch64": (0xC00000B7, 277, 220, 435, 261, 131, [
        40, 39, 97, 117, 129, 130, 138, 164, 180, 186, 190, 194, 198, 200, 201, 203, 221, 240, 268, 270, 271, 280, 281, 424,
        425, 434, 438,
    ]),
}
PRCTL = {"x86_64": 157, "aarch64": 167}
CLONE_THREAD = 0x10000
LIBC = ctypes.CDLL(None, use_errno=True)
# Address space beside the memory: libraries that are still to be loaded, stacks of threads.
SLACK = 512 << 20


def bound(limits):
    """Limits of memory, processor and files, for this process and for good."""
    import resource

    def limit(name, value):
        resource.setrlimit(name, (value, value))

    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CPU, limits["seconds"] + 1)
    limit(resource.RLIMIT_DATA, limits["memory"])
    # What is shared is no data: only the whole of the addresses bounds it.
    with open("/proc/self/statm") as statm:
        here = int(statm.read().split()[0]) * resource.getpagesize()
    limit(resource.RLIMIT_AS, here + limits["memory"] + SLACK)


def confine():
    """No other files, processes, connections and signals, for this process and for good."""
    prctl = PRCTL[platform.machine()] if platform.machine() in PRCTL else None
    if prctl:
        system(prctl, 1, 9, 0, 0, 0)  # dies with its parent
        system(prctl, 38, 1, 0, 0, 0)  # gains no rights
    see_only_libraries()
    refuse_calls()


def system(number, *arguments):
    """A call of the kernel; −1 where it refuses."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return LIBC.syscall(ctypes.c_long(number), *words)


def see_only_libraries():
    """Landlock, where the kernel has it: of all files, those of Python and the system's libraries can be read."""
    known = system(444, None, 0, 1)
    if known < 1:
        return
    handled = (1 << 13) - 1
    handled |= (1 << 13) if known >= 2 else 0
    handled |= (1 << 14) if known >= 3 else 0
    ports = 3 if known >= 4 else 0
    rules = system(444, struct.pack("QQ", handled, ports), 16 if ports else 8, 0)
    if rules < 0:
        return
    shared = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/proc/meminfo"]
    for path in {sys.prefix, sys.base_prefix, *sys.path, *shared}:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        allowed = 4 | 8 if os.path.isdir(path) else 4
        system(445, rules, 1, struct.pack("<Qi", allowed, place), 0)
        os.close(place)
    system(446, rules, 0)
    os.close(rules)


def refuse_calls():
    """A filter of system calls: no process, no connection, no signal, no other limits. Threads stay possible."""
    if platform.machine() not in CALLS:
        return
    machine, seccomp, clone, clone3, prlimit, tgkill, refused = CALLS[platform.machine()]
    allow, no, absent = 0x7FFF0000, 0x50000 | 1, 0x50000 | 38

    def step(code, k, yes=0, otherwise=0):
        return struct.pack("<HBBI", code, yes, otherwise, k)

    load, equal, answer, bits = 0x20, 0x15, 0x06, 0x45
    program = [step(load, 4), step(equal, machine, 1, 0), step(answer, no), step(load, 0)]
    # Another numbering of the same calls.
    program += [step(0x35, 0x40000000, 0, 1), step(answer, no)]
    # Whoever asks for clone3 falls back to clone, whose arguments can be looked at.
    program += [step(equal, clone3, 0, 1), step(answer, absent)]
    program += [step(equal, clone, 0, 4), step(load, 16), step(bits, CLONE_THREAD, 1, 0), step(answer, no), step(answer, allow)]
    # A limit may be read, not set: the address of the new one is nowhere.
    program += [
        step(equal, prlimit, 0, 6), step(load, 32), step(equal, 0, 0, 3), step(load, 36), step(equal, 0, 0, 1),
        step(answer, allow), step(answer, no),
    ]
    # A signal to oneself: that is how a process aborts.
    program += [step(equal, tgkill, 0, 4), step(load, 16), step(equal, os.getpid(), 0, 1), step(answer, allow), step(answer, no)]
    for number in refused:
        program += [step(equal, number, 0, 1), step(answer, no)]
    program.append(step(answer, allow))
    code = ctypes.create_string_buffer(b"".join(program))
    head = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code))
    if system(seccomp, 1, 1, head) != 0:
        raise Wrong("the kernel does not confine this process: " + os.strerror(ctypes.get_errno()))


def run(head, stdin):
    """Runs the module over its inputs; gives its table."""
    import datetime

    try:
        import pandas
        import pyarrow
    except ImportError as error:
        raise Wrong(f"analysis modules need {error.name} in {sys.executable}: pip install pandas pyarrow")
    bound(head["limits"])
    arguments = {}
    for name in head["inputs"]:
        arguments[name] = pyarrow.ipc.open_stream(stdin).read_all().to_pandas()
    for name, of, value in head["parameters"]:
        if of == "time" and value is not None:
            value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        arguments[name] = value
    source, path = head["source"], head["path"]
    code = compile(source, path, "exec")
    confine()
    namespace = {"__name__": "analysis", "__file__": path}
    exec(code, namespace)
    frame = namespace["analyse"](**arguments)
    if isinstance(frame, pandas.Series):
        frame = frame.to_frame()
    if isinstance(frame, pandas.DataFrame):
        named = [name for name in frame.index.names if name is not None]
        frame = frame.reset_index() if named else frame
        frame.columns = [str(name) for name in frame.columns]
        return pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    if hasattr(frame, "__arrow_c_stream__"):
        return pyarrow.table(frame)
    raise Wrong(f"analyse gave {type(frame).__name__}, not a data frame")


def blame(error, path):
    """The innermost line of the module that an error went through."""
    line = getattr(error, "line", None)
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def sentence(error):
    if isinstance(error, Wrong):
        return str(error)
    is_full = isinstance(error, OSError) and error.errno == errno.ENOMEM
    if is_full or isinstance(error, MemoryError) or type(error).__name__ == "ArrowMemoryError":
        return "it needs more memory than it may have"
    says = str(error).strip()
    text = f"{type(error).__name__}: {says}" if says else type(error).__name__
    if isinstance(error, PermissionError):
        text += " (an analysis module may not start processes, send signals, open connections, or read other files than Python's)"
    return text


def main():
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a module prints is no table
    stdin = sys.stdin.buffer
    head = json.loads(stdin.readline())
    path = head["path"]
    try:
        if head["do"] == "describe":
            out.write(json.dumps(describe(head["source"], path)).encode() + b"\n")
            out.flush()
            return
        table = run(head, stdin)
        import pyarrow

        out.write(b"{}\n")
        with pyarrow.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
        out.flush()
    except BaseException as error:
        line = blame(error, path)
        lines = head["source"].splitlines()
        code = lines[line - 1].strip() if line and line <= len(lines) else None
        said = {"error": sentence(error), "line": line, "code": code}
        error = None
        out.write(json.dumps(said).encode() + b"\n")
        out.flush()
    os._exit(0)


main()
