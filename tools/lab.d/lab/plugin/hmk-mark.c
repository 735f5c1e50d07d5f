// SPDX-License-Identifier: MIT
/* hmk-mark N: executes mark N, for programs that cannot (shell, Python, unmodified applications). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"

#define CASE(n)              \
	case n:              \
		HMK_MARK(n); \
		return 0

int main(int argc, char **argv)
{
	char *end = NULL;
	long number = argc == 2 ? strtol(argv[1], &end, 10) : -1;

	if (argc != 2 || !*argv[1] || *end)
		number = -1;
	switch (number) {
		CASE(0);
		CASE(1);
		CASE(2);
		CASE(3);
		CASE(4);
		CASE(5);
		CASE(6);
		CASE(7);
		CASE(8);
		CASE(9);
		CASE(10);
		CASE(11);
		CASE(12);
		CASE(13);
		CASE(14);
		CASE(15);
	}
	fprintf(stderr, "usage: hmk-mark N, N from 0 (reset) to 15\n");
	return 2;
}
