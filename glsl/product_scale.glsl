#if HALF_PRODUCTS
#for j PLANES
    v$j *= u.scale;
#endfor
#endif
