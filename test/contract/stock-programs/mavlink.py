"""A vehicle and its ground station, over TCP. `mavlink.py vehicle ADDRESS PORT`, `mavlink.py station PORT`."""

import sys

from pymavlink import mavutil

role, *where = sys.argv[1:]
COUNT = 500
if role == "vehicle":
    link = mavutil.mavlink_connection(f"tcpin:{where[0]}:{where[1]}", source_system=7)
    print("ready", flush=True)
    link.wait_heartbeat()
    link.mav.heartbeat_send(mavutil.mavlink.MAV_TYPE_QUADROTOR, mavutil.mavlink.MAV_AUTOPILOT_PX4, 0, 0, 0)
    for i in range(COUNT):
        asked = link.recv_match(type="PARAM_REQUEST_READ", blocking=True, timeout=60)
        link.mav.param_value_send(b"P%d" % asked.param_index, asked.param_index, mavutil.mavlink.MAV_PARAM_TYPE_REAL32, COUNT, i)
    link.recv_match(type="HEARTBEAT", blocking=True, timeout=60)
else:
    link = mavutil.mavlink_connection(f"tcp:127.0.0.1:{where[0]}", source_system=255)
    beat = lambda: link.mav.heartbeat_send(mavutil.mavlink.MAV_TYPE_GCS, mavutil.mavlink.MAV_AUTOPILOT_INVALID, 0, 0, 0)
    beat()
    assert link.wait_heartbeat(timeout=60).type == mavutil.mavlink.MAV_TYPE_QUADROTOR
    assert link.target_system == 7
    for i in range(COUNT):
        link.mav.param_request_read_send(7, 1, b"", i)
    for i in range(COUNT):
        value = link.recv_match(type="PARAM_VALUE", blocking=True, timeout=60)
        assert (value.param_index, value.param_id) == (i, "P%d" % i), value
    beat()
    print("done")
