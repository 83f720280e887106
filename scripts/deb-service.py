#!/usr/bin/env python3
"""Runs breaker-fleet's service in a bare Debian as systemd does: waits until it says that it is ready, and ends it.

usage: scripts/deb-service.py ROOT 'COMMAND LINE'
"""
import os
import shlex
import signal
import socket
import subprocess
import sys

LIMIT = 100
root, command = sys.argv[1], shlex.split(sys.argv[2])

path = os.path.join(root, "run", "notify")
notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notifications.bind(path)
notifications.settimeout(LIMIT)

settings = ["NOTIFY_SOCKET=/run/notify"]
with open(os.path.join(root, "etc/default/breaker-fleet")) as file:
    settings += [line.strip().replace('"', "") for line in file if "=" in line and not line.startswith("#")]

# No more rights than the service has; those of root are enough for a store of root's.
service = subprocess.Popen(["chroot", root, "env", "-i", *settings, "setpriv", "--bounding-set=-all", *command])
try:
    told = notifications.recv(4096).decode()
    if "READY=1" not in told.split("\n"):
        sys.exit(f"it says {told!r}, not that it is ready")
    service.send_signal(signal.SIGTERM)
    code = service.wait(LIMIT)
    if code != 0:
        sys.exit(f"it ends with {code}")
finally:
    if service.poll() is None:
        service.kill()
        service.wait()
    notifications.close()
    os.unlink(path)
