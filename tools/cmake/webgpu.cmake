# Finds webgpu.h. Nothing else is needed to build the backend: it loads its library at run time.
# Gives TSR_WEBGPU_INCLUDE and makes TSR_WEBGPU plainly ON or OFF.

if(TSR_WEBGPU)
    # Where tools/get-webgpu.sh puts it.
    set(data "$ENV{XDG_DATA_HOME}")
    if(NOT data MATCHES "^/")
        set(data "$ENV{HOME}/.local/share")
    endif()
    find_path(TSR_WEBGPU_INCLUDE webgpu/webgpu.h DOC "Folder of webgpu/webgpu.h"
              HINTS ${PROJECT_SOURCE_DIR}/.webgpu/include ${data}/tessera/webgpu/include)
    set(WEBGPU_LINES "")
    if(EXISTS ${TSR_WEBGPU_INCLUDE}/webgpu/webgpu.h)
        # Other versions of the header number features otherwise, or lack what the backend calls.
        file(STRINGS ${TSR_WEBGPU_INCLUDE}/webgpu/webgpu.h WEBGPU_LINES
             REGEX "WGPUFeatureName_TimestampQuery = 0x00000009,|WGPUProcGetInstanceLimits\\)")
    endif()
    list(LENGTH WEBGPU_LINES WEBGPU_LINE_COUNT)
    if(WEBGPU_LINE_COUNT EQUAL 2)
        set(TSR_WEBGPU ON)
    elseif(TSR_WEBGPU STREQUAL "AUTO")
        message(STATUS "No WebGPU backend: its webgpu.h is not here; tools/get-webgpu.sh fetches it")
        set(TSR_WEBGPU OFF)
    else()
        message(FATAL_ERROR "webgpu.h is missing or of another ABI (${TSR_WEBGPU_INCLUDE}): run "
                            "tools/get-webgpu.sh, or set TSR_WEBGPU=OFF")
    endif()
endif()
