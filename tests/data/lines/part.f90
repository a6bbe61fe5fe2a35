! SPDX-License-Identifier: GPL-2.0-or-later
! Code for tests/cli/test_sources.sh: a module, and a procedure within another.
module sums
contains
	subroutine total(numbers, n, sum)
		integer, intent(in) :: n
		real(8), intent(in) :: numbers(n)
		real(8), intent(out) :: sum
		integer :: i
		sum = 0
		do i = 1, n
			sum = sum + weighted(numbers(i))
		end do
	contains
		function weighted(x) result(y)
			real(8), intent(in) :: x
			real(8) :: y
			y = sqrt(x) * n + x**3
		end function
	end subroutine
end module

program main
	use sums
	real(8) :: numbers(100), sum
	integer :: i
	do i = 1, 100
		numbers(i) = i * 1.5d0
	end do
	call total(numbers, 100, sum)
	print *, sum
end program
