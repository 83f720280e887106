"""A provider over HTTP on loopback, which says what it is told to say to all that ask.

Each line of its input is answered: `answer 429 60` with its port, after which each request gets that status and
`Retry-After: 60` (`answer 200` is without the header); `count` with how many requests have come.
"""

import http.server
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    status, wait, count = 200, None, 0
    lock = threading.Lock()

    def do_GET(self):
        with Handler.lock:
            Handler.count += 1
            status, wait = Handler.status, Handler.wait
        body = b"the answer\n"
        self.send_response(status)
        if wait is not None:
            self.send_header("Retry-After", wait)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    word, *values = line.split()
    with Handler.lock:
        if word == "answer":
            Handler.status, Handler.wait = int(values[0]), values[1] if len(values) > 1 else None
            print(f"port={server.server_port}", flush=True)
        else:
            print(f"count={Handler.count}", flush=True)
