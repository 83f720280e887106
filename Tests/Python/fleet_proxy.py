"""A TCP proxy on loopback: `fleet_proxy.py PORT` passes on to that port what comes to a port of its own.

Reads one command a line, and answers each with one line:

- `port`: on which port the proxy listens.
- `stall`: accepts and acknowledges, and passes nothing on.
- `cut`: closes all connections, and each new one at once.
- `delay MS`: each answer of the server comes so much later.
- `lead PORT`: new connections go to that port.
- `go`: passes on all that comes, and what was held back by `stall`.
"""
import socket
import sys
import threading
import time

target = int(sys.argv[1])
passing = threading.Event()
passing.set()
is_cut = False
delay = 0.0
ends = set()
lock = threading.Lock()


def close(end):
    """Ends a connection; whoever reads or writes on it is told."""
    with lock:
        ends.discard(end)
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


def pass_on(source, goal, is_answer):
    try:
        while True:
            data = source.recv(65536)
            if is_answer and delay:
                time.sleep(delay)
            passing.wait()
            if not data:
                break
            goal.sendall(data)
    except OSError:
        pass
    close(source)
    close(goal)


def accept(listener):
    while True:
        client, _ = listener.accept()
        if is_cut:
            client.close()
            continue
        try:
            server = socket.create_connection(("127.0.0.1", target))
        except OSError:
            client.close()
            continue
        with lock:
            ends.update((client, server))
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=pass_on, args=(client, server, False), daemon=True).start()
        threading.Thread(target=pass_on, args=(server, client, True), daemon=True).start()


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(100)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
for line in sys.stdin:
    words = line.split()
    answer = "ok"
    if words[0] == "port":
        answer = f"ok port={listener.getsockname()[1]}"
    elif words[0] == "lead":
        target = int(words[1])
    elif words[0] == "stall":
        passing.clear()
    elif words[0] == "go":
        is_cut = False
        delay = 0.0
        passing.set()
    elif words[0] == "delay":
        delay = int(words[1]) / 1000
    elif words[0] == "cut":
        is_cut = True
        with lock:
            open_ends = list(ends)
        for end in open_ends:
            close(end)
        passing.set()
    else:
        answer = f"error no such command: {line.strip()}"
    print(answer, flush=True)
