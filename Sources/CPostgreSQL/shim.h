#pragma once
// Debian has libpq's headers in a folder of their own.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// How many bytes a TCP connection has received since it was made; -1 if the kernel does not report it.
static inline int64_t bf_bytes_received(int socket) {
#ifdef __linux__
    // tcpi_bytes_received of struct tcp_info, from <linux/tcp.h>, which the C library's header may lack. Its place is
    // part of the UAPI and stays. 6 is IPPROTO_TCP, 11 is TCP_INFO.
    enum { place = 128 };
    char info[256];
    socklen_t length = sizeof info;
    int64_t count;
    if (getsockopt(socket, 6, 11, info, &length) == 0 && length >= place + sizeof count) {
        memcpy(&count, info + place, sizeof count);
        return count;
    }
#else
    (void)socket;
#endif
    return -1;
}

// How many bytes wait to be read from a socket; 0 if the system does not report it.
static inline int bf_bytes_waiting(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) == 0 && count > 0 ? count : 0;
}

// By default libpq prints the server's notices to stderr.
static inline void bf_drop_notice(void *context, const char *message) { (void)context, (void)message; }
static inline void bf_drop_notices(PGconn *connection) { PQsetNoticeProcessor(connection, bf_drop_notice, 0); }
