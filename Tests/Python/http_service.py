"""A service over HTTP: the path /429/7 is answered with that status and `Retry-After: 7`.

Each line of its input is answered with its port.
"""

import http.server
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, *seconds = self.path.strip("/").split("/")
        self.send_response(int(status))
        if seconds:
            self.send_header("Retry-After", seconds[0])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    print(f"port={server.server_port}", flush=True)
