# Code that the build writes: the ONNX schema, the GL and EGL loaders, the embedded kernels.
# Gives TSR_GENERATED_SOURCES, TSR_GENERATED_INCLUDES and the target tessera_generated.

set(GENERATED ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${GENERATED})

# ---- onnx.pb-c.{c,h} from src/onnx/onnx.proto ----------------------------------------------------

add_custom_command(
    OUTPUT ${GENERATED}/onnx.pb-c.c ${GENERATED}/onnx.pb-c.h
    COMMAND ${TSR_PROTOC_C} --c_out=${GENERATED} --proto_path=${PROJECT_SOURCE_DIR}/src/onnx onnx.proto
    DEPENDS ${PROJECT_SOURCE_DIR}/src/onnx/onnx.proto
    COMMENT "Generating onnx.pb-c.c" VERBATIM)
set(TSR_GENERATED_SOURCES ${GENERATED}/onnx.pb-c.c ${GENERATED}/onnx.pb-c.h)
set(TSR_GENERATED_INCLUDES ${GENERATED})

if(TSR_GLES)
    # ---- glad: GLES 3.0 and EGL 1.5 entry points, found at run time ------------------------------
    set(GLAD_EXTENSIONS
        EGL_EXT_client_extensions EGL_EXT_platform_base EGL_EXT_platform_device EGL_EXT_device_base
        EGL_EXT_device_enumeration EGL_EXT_device_query EGL_EXT_device_query_name
        EGL_MESA_platform_surfaceless EGL_KHR_surfaceless_context EGL_KHR_no_config_context
        EGL_KHR_create_context EGL_EXT_create_context_robustness EGL_KHR_context_flush_control
        GL_EXT_color_buffer_float GL_EXT_color_buffer_half_float GL_EXT_float_blend
        GL_EXT_disjoint_timer_query GL_KHR_parallel_shader_compile GL_EXT_robustness
        GL_KHR_robustness GL_KHR_debug GL_OES_draw_buffers_indexed)
    string(REPLACE ";" "," GLAD_EXTENSION_LIST "${GLAD_EXTENSIONS}")
    set(GLAD_FILES ${GENERATED}/glad/src/egl.c ${GENERATED}/glad/src/gles2.c
        ${GENERATED}/glad/include/glad/egl.h ${GENERATED}/glad/include/glad/gles2.h)
    # Without --reproducible glad downloads the specifications.
    set(GLAD_COMMAND "'${TSR_GLAD}' --reproducible --quiet --api gles2=3.0,egl=1.5 --extensions")
    string(APPEND GLAD_COMMAND " ${GLAD_EXTENSION_LIST} --out-path glad c --loader --mx")
    add_custom_command(
        OUTPUT ${GLAD_FILES}
        COMMAND sh -c "${GLAD_COMMAND} 2> glad.log || { cat glad.log >&2; exit 1; }"
        WORKING_DIRECTORY ${GENERATED}
        COMMENT "Generating the GLES and EGL loaders" VERBATIM)
    set(GLAD_HEADER ${GENERATED}/glad/include/glad/gles2.h)
    add_custom_command(
        OUTPUT ${GENERATED}/gl_calls.h
        COMMAND ${CMAKE_COMMAND} -DGLAD=${GLAD_HEADER} -DOUT=${GENERATED}/gl_calls.h
                -P ${PROJECT_SOURCE_DIR}/tools/cmake/gl_calls.cmake
        DEPENDS ${GLAD_HEADER} ${PROJECT_SOURCE_DIR}/tools/cmake/gl_calls.cmake
        COMMENT "Naming the GLES entry points" VERBATIM)
    list(APPEND TSR_GENERATED_SOURCES ${GLAD_FILES} ${GENERATED}/gl_calls.h)
    list(APPEND TSR_GENERATED_INCLUDES ${GENERATED}/glad/include)
endif()

# ---- kernel_list.{c,h} from src/kernel/kernels.txt, glsl/ and wgsl/ ------------------------------

file(GLOB KERNEL_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/glsl/*.glsl ${PROJECT_SOURCE_DIR}/wgsl/*.wgsl)
set(KERNEL_SCRIPT ${PROJECT_SOURCE_DIR}/tools/cmake/kernels.py)
set(KERNEL_DECLARATIONS ${PROJECT_SOURCE_DIR}/src/kernel/kernels.txt)
set(OPERATOR_TABLE ${PROJECT_SOURCE_DIR}/src/graph/ops.def)
set(KERNEL_LANGUAGES $<$<BOOL:${TSR_GLES}>:glsl> $<$<BOOL:${TSR_WEBGPU}>:wgsl>)
add_custom_command(
    OUTPUT ${GENERATED}/kernel_list.c ${GENERATED}/kernel_list.h
    COMMAND ${TSR_PYTHON3} ${KERNEL_SCRIPT} ${KERNEL_DECLARATIONS} ${OPERATOR_TABLE} ${PROJECT_SOURCE_DIR}/glsl
            ${PROJECT_SOURCE_DIR}/wgsl ${GENERATED} $<$<BOOL:${TSR_PACK_KERNELS}>:packed> ${KERNEL_LANGUAGES}
    DEPENDS ${KERNEL_FILES} ${KERNEL_SCRIPT} ${KERNEL_DECLARATIONS} ${OPERATOR_TABLE}
    COMMENT "Fitting kernels to their declarations" VERBATIM COMMAND_EXPAND_LISTS)
list(APPEND TSR_GENERATED_SOURCES ${GENERATED}/kernel_list.c ${GENERATED}/kernel_list.h)
if(TSR_WEBGPU)
    list(APPEND TSR_GENERATED_INCLUDES ${TSR_WEBGPU_INCLUDE})
endif()

add_custom_target(tessera_generated DEPENDS ${TSR_GENERATED_SOURCES})
# Our warning flags are for our code.
set_source_files_properties(${TSR_GENERATED_SOURCES} PROPERTIES GENERATED TRUE COMPILE_OPTIONS -w)
