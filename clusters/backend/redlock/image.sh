# scripts/images reads this file: Redlock's servers are plain Redis servers.
same_image[redlock]=redis
