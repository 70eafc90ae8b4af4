"""What is a wide area between two nodes on one machine? Two network namespaces, joined by a link that
delivers every packet so many milliseconds later.

delay.py ONE_WAY_MS   (root, Linux, iproute2)

Prints one line of JSON, {"near": FILE, "far": FILE}: the namespaces, for `nsenter --net=FILE`; near has
10.20.0.1, far 10.20.0.2. Ends when its standard input does, however its starter ended; the namespaces have no
name that could be left behind, and what still runs in them is ended too.
"""
import collections, ctypes, fcntl, glob, json, os, select, signal, struct, subprocess, sys, time

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
CHECKSUM, TSO4 = 0x01, 0x02
QUEUED_MAX = 10_000  # Packets the kernel keeps for us; at its 500 a busy machine loses some, and TCP half its speed.


def system(name, *args):
    if libc[name](*args) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def make_end(address):
    """A new namespace with one tun device; leaves this process in it."""
    system("unshare", CLONE_NEWNET)
    space = os.open("/proc/self/ns/net", os.O_RDONLY)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"wan0", IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    # The kernel hands over up to 64 KiB at once, as to a network card that cuts segments; the MTU stays 1,500.
    fcntl.ioctl(tun, TUNSETOFFLOAD, CHECKSUM | TSO4)
    for words in (
        "link set lo up",
        f"addr add {address}/30 dev wan0",
        f"link set wan0 txqueuelen {QUEUED_MAX} up",
    ):
        subprocess.run(["ip", *words.split()], check=True)
    return space, tun


def carry(near, far, delay_s):
    """Until standard input ends."""
    other, queue, stdin = {near: far, far: near}, collections.deque(), sys.stdin.fileno()
    while True:
        wait_s = max(0, queue[0][0] - time.monotonic()) if queue else None
        for file in select.select([near, far, stdin], [], [], wait_s)[0]:
            if file == stdin:
                if not os.read(stdin, 4096):
                    return
                continue
            try:
                while True:
                    packet = os.read(file, 70_000)
                    queue.append((time.monotonic() + delay_s, other[file], packet))
            except BlockingIOError:
                pass
        while queue and queue[0][0] <= time.monotonic():
            _, file, packet = queue.popleft()
            try:
                os.write(file, packet)
            except OSError:
                pass  # Lost, as packets are.


def end_all_in(spaces):
    """Only what the bench started in there can be there."""
    inodes = {os.fstat(space).st_ino for space in spaces}
    for path in glob.glob("/proc/[0-9]*"):
        pid = int(path.split("/")[2])
        try:
            if pid != os.getpid() and os.stat(f"{path}/ns/net").st_ino in inodes:
                os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # Gone meanwhile.


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
try:
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    near_space, near = make_end("10.20.0.1")
    far_space, far = make_end("10.20.0.2")
    system("setns", home, CLONE_NEWNET)
except (OSError, subprocess.CalledProcessError) as error:
    sys.exit(f"cannot make namespaces with a link: {error}")
file = f"/proc/{os.getpid()}/fd/"
print(json.dumps({"near": f"{file}{near_space}", "far": f"{file}{far_space}"}), flush=True)
try:
    carry(near, far, float(sys.argv[1]) / 1000)
except KeyboardInterrupt:
    pass
finally:
    end_all_in([near_space, far_space])
