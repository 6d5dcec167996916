"""TCP peers for make.sh.

    talk.py serve                              takes connections until it is killed
    talk.py ADDRESS upload:N|download:N|ask:N  one after the other starts each, then waits for all

A client's first line says what it wants: `upload N` then sends N bytes, `download N` gets N bytes, `ask N` sends a line N
times, the next as soon as an answer of 3000 bytes has come.
"""

import socket
import sys
import threading

PORT = 5001
ANSWER = 3000


def receive(connection: socket.socket, size: int) -> None:
    while size > 0:
        part = connection.recv(65536)
        if not part:
            raise ConnectionError(f"{size} bytes are missing")
        size -= len(part)


def answer(connection: socket.socket) -> None:
    with connection:
        lines = connection.makefile("rb")
        what, number = lines.readline().split()
        if what == b"upload":
            lines.read(int(number))
        elif what == b"download":
            connection.sendall(bytes(int(number)))
        else:
            for _ in range(int(number)):
                lines.readline()
                connection.sendall(bytes(ANSWER))


def serve() -> None:
    with socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def call(address: str, wish: str) -> None:
    what, number = wish.split(":")
    with socket.create_connection((address, PORT)) as connection:
        connection.sendall(f"{what} {number}\n".encode())
        if what == "upload":
            connection.sendall(bytes(int(number)))
        elif what == "download":
            receive(connection, int(number))
        else:
            for _ in range(int(number)):
                connection.sendall(b"next\n")
                receive(connection, ANSWER)


def main(*arguments: str) -> None:
    if arguments == ("serve",):
        serve()
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    calls = [threading.Thread(target=call, args=pair) for pair in pairs]
    for each in calls:
        each.start()
    for each in calls:
        each.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
