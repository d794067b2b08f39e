
Ž/host:metadata*
process_id*cpu_version*jaxlib_version*jax_version2
*0.10.22
*0.10.22*cpu2 í
	/host:CPU
”Task Environment*profile_options*profile_start_time*profile_stop_time2‘ýÒÏÜ¨©ö2³À¾ÿÜ¨©ö22(8ridle"	trainer-0