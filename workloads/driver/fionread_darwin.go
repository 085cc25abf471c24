package driver

// fionread is FIONREAD of <sys/filio.h>, _IOR('f', 127, int), which package unix lacks.
const fionread = 0x4004667f
