type MachinePort = {
  port: number
  /** What usually listens there. */
  use: string
  /** It speaks HTTP or WebSocket, so its door gives it a host, besides raw TCP. */
  web?: true
}

/**
 * The ports of today's simulators and bridges, besides the page's. The machine publishes them
 * (infra/image/simulator.sh), its firewall lets the door in (infra/account.yaml), and the door and the docs list them.
 * The ones that people forward most come first.
 */
export const MACHINE_PORTS: MachinePort[] = [
  { port: 41451, use: "AirSim's RPC" },
  { port: 5760, use: 'MAVLink' },
  { port: 8989, use: "Project AirSim's topics" },
  { port: 8990, use: "Project AirSim's services" },
  { port: 2000, use: "CARLA's RPC" },
  { port: 2001, use: "CARLA's sensors" },
  { port: 7447, use: 'Zenoh, as of ROS 2' },
  { port: 10_000, use: "Unity's ROS endpoint" },
  { port: 9090, use: 'rosbridge', web: true },
  { port: 8765, use: 'Foxglove', web: true },
  { port: 9002, use: 'Gazebo', web: true },
  { port: 6080, use: 'noVNC', web: true },
  { port: 8080, use: 'Selkies', web: true },
]

/** The ports with hosts of their own. */
export const WEB_PORTS = MACHINE_PORTS.flatMap(({ port, web }) => (web ? [port] : []))
export const TCP_PORTS = MACHINE_PORTS.map(({ port }) => port)
