/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An extension module of bench/python.py: calls between Python and C. */
#include <Python.h>

static volatile unsigned long sink;

/* mix(N): computes in C, N rounds. */
static PyObject *mix(PyObject *self, PyObject *rounds)
{
	unsigned long count = PyLong_AsUnsignedLong(rounds), sum = 1;
	(void)self;
	if (PyErr_Occurred())
		return NULL;
	for (unsigned long i = 0; i < count; i++)
		sum = sum * 6364136223846793005UL + i;
	sink = sum;
	Py_RETURN_NONE;
}

/* call(FUNCTION, N, ...): calls FUNCTION(N), with a large frame of C in between. */
static PyObject *call(PyObject *self, PyObject *arguments)
{
	PyObject *function, *number;
	volatile char frame[2048] = {0};
	(void)self;
	if (!PyArg_ParseTuple(arguments, "OO", &function, &number))
		return NULL;
	PyObject *result = PyObject_CallFunctionObjArgs(function, number, NULL);
	sink = (unsigned long)frame[sink % sizeof(frame)];
	return result;
}

static PyMethodDef methods[] = {
	{"mix", mix, METH_O, ""},
	{"call", call, METH_VARARGS, ""},
	{0},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, .m_name = "python_calls", .m_methods = methods,
};

PyMODINIT_FUNC PyInit_python_calls(void)
{
	return PyModule_Create(&definition);
}
