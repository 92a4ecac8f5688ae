"""Devices and textures."""
import ctypes
import unittest

import numpy as np
import tessera
from cases import BACKENDS, open_session

EGL_PLATFORM_SURFACELESS_MESA, EGL_OPENGL_ES_API, EGL_CONTEXT_MAJOR_VERSION = 0x31DD, 0x30A0, 0x3098
EGL_NONE, GL_RGBA, GL_FLOAT, GL_FRAMEBUFFER = 0x3038, 0x1908, 0x1406, 0x8D40
GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D = 0x8CE0, 0x0DE1


class Devices(unittest.TestCase):
    def test_list(self):
        listed = tessera.list_devices()
        self.assertIn({"backend": "cpu"}, [device.options for device in listed])
        for options, info, reason in listed:
            self.assertEqual(info is None, reason is not None)
            if info:
                with tessera.Device(**options) as device:
                    self.assertEqual(device.info.name, info.name)
                    self.assertIn(info.name, repr(device))
                self.assertIn("closed", repr(device))

    def test_bad(self):
        for options in ({"platform": "metal"}, {"gpu": -1}, {"kernels": "no"}):
            with self.assertRaises(tessera.Error) as caught:
                tessera.Device(**options)
            self.assertEqual(caught.exception.status, "INVALID_ARGUMENT")
        with self.assertRaises(tessera.Error) as caught:
            tessera.Device("cpu").measure()
        self.assertEqual(caught.exception.status, "UNSUPPORTED")


class Context:
    """A GLES 3 context of the caller's, without a window."""

    def __init__(self):
        self.egl, self.gl = ctypes.CDLL("libEGL.so.1"), ctypes.CDLL("libGLESv2.so.2")
        for name in ("eglGetPlatformDisplay", "eglCreateContext", "eglGetProcAddress"):
            getattr(self.egl, name).restype = ctypes.c_void_p
        pointer = ctypes.c_void_p
        self.display = pointer(self.egl.eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, None,
                                                              None))
        assert self.egl.eglInitialize(self.display, None, None)
        assert self.egl.eglBindAPI(EGL_OPENGL_ES_API)
        attributes = (ctypes.c_int * 3)(EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE)
        self.context = pointer(self.egl.eglCreateContext(self.display, None, None, attributes))
        self.enter()

    def enter(self):
        assert self.egl.eglMakeCurrent(self.display, None, None, self.context)

    def leave(self):
        assert self.egl.eglMakeCurrent(self.display, None, None, None)

    def read(self, texture):
        """The texels of a tessera.Texture, in rows."""
        framebuffer = ctypes.c_uint()
        gl, width, height = self.gl, texture.texture_width, texture.texture_height
        gl.glGenFramebuffers(1, ctypes.byref(framebuffer))
        gl.glBindFramebuffer(GL_FRAMEBUFFER, framebuffer)
        gl.glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture.id,
                                  0)
        texels = np.empty((height, width, 4), np.float32)
        gl.glReadPixels(0, 0, width, height, GL_RGBA, GL_FLOAT,
                        ctypes.c_void_p(texels.ctypes.data))
        gl.glBindFramebuffer(GL_FRAMEBUFFER, 0)
        gl.glDeleteFramebuffers(1, ctypes.byref(framebuffer))
        return texels


@unittest.skipUnless("gles" in BACKENDS, "no gles device")
class Textures(unittest.TestCase):
    def test_output_textures(self):
        context = Context()
        address = context.egl.eglGetProcAddress
        for options in ({}, {"get_proc_address": lambda name: address(name)}):
            device = tessera.Device(platform="current", **options)
            session = open_session("Neg x[1,3,4,5] -> y", device=device,
                                   sess_options=tessera.SessionOptions(texture_outputs=True))
            for seed in range(2):
                x = np.random.default_rng(seed).random((1, 3, 4, 5), np.float32)
                (texture,) = session.run_to_textures(None, {"x": x})
                self.assertEqual((texture.width, texture.height, texture.tiles), (5, 4, 1))
                texels = context.read(texture)[:4, :5, :3]
                np.testing.assert_array_equal(texels, -x[0].transpose(1, 2, 0))
                (y,) = session.run(["y"], {"x": x})
                np.testing.assert_array_equal(y, -x)
            context.leave()
            with self.assertRaises(tessera.Error) as caught:
                session.run(None, {"x": x})
            self.assertEqual(caught.exception.status, "DEVICE")
            context.enter()
            session.close()
            device.close()
        context.leave()

    def test_without_option(self):
        session = open_session("Neg x[4] -> y", backend="gles")
        with self.assertRaisesRegex(tessera.Error, "texture_outputs"):
            session.run_to_textures(None, {"x": np.zeros(4, np.float32)})
