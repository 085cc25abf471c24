#!/bin/sh
# What that of the official image does with arguments: it puts a program before them, which a variable may name.
exec "${VGW_BINARY:-/usr/local/bin/versitygw}" "$@"
