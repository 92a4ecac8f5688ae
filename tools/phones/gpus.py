"""The GPUs: how Mesa's driver is started for each, who reads its listings, and what a chip with it can do.

lima (Mali-400) and vc4 (Raspberry Pi 3) are here because they have OpenGL ES 2.0 only: Tessera has to refuse them. They have
no chip.

Rates are per core and clock, for one fragment: 24 multiply-adds a clock means that 24 fragments make one each. Sources:
  Arm   Arm Mali GPU datasheet (2021): FP32 operations, texels per clock and core; a multiply-add is two operations
  Mesa  the weights of Mesa's own statistics (bifrost_compile.c, bi_print_stats and va_print_stats): 1 load or store,
        16 components of varyings a clock
  BCM   Raspberry Pi 4: 8 QPUs of 4 lanes at 500 MHz, 32 GFLOP/s. Two texture units: each is taken to answer one lane a clock
  QC    Adreno 6xx: 2 x 64 float lanes and 4 texture units in each of a core's two uSPTPs ("Inside the Snapdragon 855's
        iGPU", chipsandcheese.com), 16-bit floats at twice the rate; cores and registers as in Mesa's
        freedreno_devices.py and ir3_compiler.c. Loads, of uniform blocks too, are taken to be as fast as textures
  Intel An EU makes 8 multiply-adds a clock ("The Compute Architecture of Intel Processor Graphics Gen9"); a sampler for
        8 EUs is taken to answer 4 lanes a clock, the data port 8
  AMD   GCN: 64 lanes, 16 addresses of loads and 4 of images a clock ("AMD Graphics Cores Next" white paper)
Bandwidths are the memory's peak: data rate times width of the bus, as the makers of the chips tell it.
"""

from collections import namedtuple

import isa

Gpu = namedtuple("Gpu", "family shim driver settings read chip")
# registers: of a thread if a core held two waves only; None where the compiler tells how many threads it holds.
Chip = namedtuple("Chip", "name cores mhz rates gbytes registers", defaults=(None,))


def _mali(number, read, variable, chip):
    settings = {"PAN_GPU_ID": number, variable: "shaderdb,shaders,verbose" if read == isa.midgard else "shaderdb,shaders"}
    return Gpu("mali", "panfrost", "panfrost", settings, read, chip)


def _adreno(number, name, cores, mhz, gbytes, registers, lanes=256, texels=8):
    rates = {"arithmetic": lanes, "special": lanes / 8, "texture": texels, "memory": texels}
    settings = {"FD_GPU_ID": number, "FD_MESA_DEBUG": "shaderdb", "IR3_SHADER_DEBUG": "fs"}
    return Gpu("adreno", "freedreno", "msm", settings, isa.adreno,
               Chip(name, cores, mhz, rates, gbytes, registers))


def _intel(platform, name, units, mhz, gbytes):
    settings = {"INTEL_STUB_GPU_PLATFORM": platform, "INTEL_DEBUG": "fs", "shader_precompile": "false"}
    rates = {"arithmetic": 8, "texture": 0.5, "memory": 1}
    return Gpu("intel", "intel", "iris", settings, isa.intel, Chip(name, units, mhz, rates, gbytes))


def _bifrost(name, cores, mhz, tuples, gbytes):
    return Chip(name, cores, mhz, {"arithmetic": tuples, "texture": 2, "varying": 16, "memory": 1}, gbytes)


GPUS = {
    "mali-g52": _mali("7212", isa.bifrost, "BIFROST_MESA_DEBUG",
                      _bifrost("Mali-G52 MP2, 850 MHz (Helio G80)", 2, 850, 24, 14.4)),
    "mali-g31": _mali("7093", isa.bifrost, "BIFROST_MESA_DEBUG",
                      _bifrost("Mali-G31 MP2, 650 MHz (Amlogic S905X3)", 2, 650, 8, 12.8)),
    "mali-g57": _mali("9093", isa.valhall, "BIFROST_MESA_DEBUG",
                      Chip("Mali-G57 MC2, 950 MHz (Dimensity 700)", 2, 950,
                           {"fma": 32, "convert": 32, "sfu": 8, "texture": 4, "varying": 16, "memory": 1}, 17.1)),
    "mali-t860": _mali("860", isa.midgard, "MIDGARD_MESA_DEBUG",
                       Chip("Mali-T860 MP4, 800 MHz (RK3399)", 4, 800, {"arithmetic": 2, "texture": 1, "memory": 1}, 14.9)),
    "pi4": Gpu("videocore", "v3d", "v3d", {"V3D_DEBUG": "shaderdb,qpu"}, isa.videocore,
               Chip("VideoCore VI, 500 MHz (Raspberry Pi 4)", 8, 500, {"issue": 4, "tmu": 0.25}, 12.8)),
    "adreno-540": _adreno("540", "Adreno 540, 710 MHz (Snapdragon 835)", 4, 710, 29.8, 48, lanes=64, texels=4),
    "adreno-618": _adreno("618", "Adreno 618, 700 MHz (Snapdragon 730)", 1, 700, 14.9, 96),
    "adreno-630": _adreno("630", "Adreno 630, 710 MHz (Snapdragon 845)", 2, 710, 29.8, 96),
    "adreno-660": _adreno("660", "Adreno 660, 840 MHz (Snapdragon 888)", 3, 840, 51.2, 64),
    "intel-skl": _intel("skl", "HD Graphics 530, 24 EUs, 1050 MHz", 24, 1050, 34.1),
    "intel-tgl": _intel("tgl", "Iris Xe, 96 EUs, 1300 MHz (Tiger Lake)", 96, 1300, 68.3),
    "intel-adl": _intel("adl", "UHD Graphics, 32 EUs, 1550 MHz (Alder Lake)", 32, 1550, 76.8),
    "radeonsi": Gpu("radeonsi", "radeon", "radeonsi",
                    {"RADEON_GPU_ID": "KABINI", "AMD_DEBUG": "ps,noir,nonir", "radeonsi_sync_compile": "true"}, isa.gcn,
                    Chip("Radeon HD 8400, 2 CUs of GCN, 400 MHz (Kabini)", 2, 400,
                         {"arithmetic": 64, "texture": 4, "memory": 16}, 12.8)),
    "lima": Gpu("lima", "lima", "lima", {}, None, None),
    "vc4": Gpu("vc4", "vc4", "vc4", {}, None, None),
}


def environment(gpu, root):
    """What makes a process see this GPU. root: where the drivers are installed."""
    lib = f"{root}/lib"
    return {
        "LD_LIBRARY_PATH": lib,
        "LIBGL_DRIVERS_PATH": f"{lib}/dri",
        "EGL_PLATFORM": "surfaceless",
        "__EGL_VENDOR_LIBRARY_DIRS": "",
        "MESA_LOADER_DRIVER_OVERRIDE": gpu.driver,
        "MESA_SHADER_CACHE_DISABLE": "1",
        "GALLIUM_THREAD": "0",  # drivers compile where passes are logged, not in a thread
        "TSR_CACHE": "off",
        "LD_PRELOAD": f"{lib}/lib{gpu.shim}_noop_drm_shim.so",
        **gpu.settings,
    }
