import { FEWEST_WAITS } from '../../domain/estimate.ts'
import { MACHINE_PORTS } from '../../domain/machine-ports.ts'
import { PREMIUM } from '../../domain/money/plan.ts'
import { SERVER_WEB_PORT } from '../../domain/server.ts'
import { Code, Doc, Heading, Rows } from './parts.tsx'

const PROJECT_AIRSIM = `from projectairsim import ProjectAirSimClient
client = ProjectAirSimClient(address="127.0.0.1", port_topics=8989, port_services=8990)
client.connect()`

const ZSTD = `docker buildx build . --output \\
  type=image,name=ghcr.io/you/simulator:1,push=true,oci-mediatypes=true,compression=zstd,force-compression=true`

export function Ports() {
  return (
    <Doc
      path="/docs/ports"
      title="Ports and pictures"
      lead="What of your simulator reaches you on a private server, and what an image needs for it."
    >
      <Heading id="ports">Ports</Heading>
      <p>
        Beside its page on port {SERVER_WEB_PORT}, a <a href="/docs/images#private">private server</a> has these ports,
        for any program that listens there on <code>0.0.0.0</code>. <code>proving-ground forward</code> leads each of
        them to your computer, and <strong>Connect your code</strong> on the dashboard has the address of those with
        HTTP or WebSocket. Others aren't open, unless the operator of the site adds them.
      </p>
      <Rows
        caption="Ports of a private server"
        head={['Port', 'What usually listens', 'How it is reached']}
        rows={MACHINE_PORTS.map(({ port, use, web }) => [
          <code key="p">{port}</code>,
          use,
          web ? 'HTTP and WebSocket, or forwarded' : 'Forwarded',
        ])}
      />
      <Code>{`proving-ground forward 8989 8990`}</Code>
      <p>Then Project AirSim's client finds your server where it expects a local one:</p>
      <Code>{PROJECT_AIRSIM}</Code>
      <p>Only TCP passes, so let your image offer it:</p>
      <ul>
        <li>
          MAVLink over UDP (14540, 14550): run mavlink-routerd or MAVProxy in the image with TCP on 5760, where
          ArduPilot's SITL listens anyway.
        </li>
        <li>
          ROS 2 over DDS, and Gazebo's transport, which find each other by multicast: use rosbridge, Foxglove's bridge,
          or Zenoh's router.
        </li>
        <li>A port that isn't in the table: choose one that is, as most simulators let you.</li>
      </ul>

      <Heading id="pictures">Pictures</Heading>
      <p>What comes over HTTP or a WebSocket passes. WebRTC doesn't: it sends its pictures over UDP.</p>
      <Rows
        caption="Pictures of a simulator"
        head={['What shows them', 'How', 'Reaches you']}
        rows={[
          ['noVNC', 'WebSocket', 'Yes, on 6080'],
          ['Selkies 2', 'WebSocket, which is its default', 'Yes, on 8080'],
          ['Foxglove, rosbridge, and Gazebo’s web view', 'WebSocket', 'Yes, on 8765, 9090, and 9002'],
          ['A page of your own, MJPEG, or HLS', 'HTTP', `Yes, on ${SERVER_WEB_PORT} or any port with HTTP`],
          ["Isaac Sim's livestream, Unreal's Pixel Streaming", 'WebRTC', 'No'],
          ['Selkies 1, or Selkies 2 with --mode=webrtc', 'WebRTC', 'No: use Selkies 2 as it comes'],
        ]}
      />
      <p>
        Guests see those pictures as well, each port by the link with the port in its host:{' '}
        <code>https://xxxx-6080…</code> instead of <code>https://xxxx…</code>. A browser enters each port by itself, so
        a page reaches another port only once its visitor has opened that port as well. What can control your simulator
        should ask for a password of its own, or look at <code>x-door-visitor</code>.
      </p>

      <Heading id="needs">What an image needs</Heading>
      <p>
        An <a href="/docs/images#own">image of your own</a>, which {PREMIUM.name} and Enterprise include, runs without
        capabilities and can't gain any.
      </p>
      <Rows
        caption="What works in a container here, and what doesn't"
        head={['An image that…', 'What happens', 'What to do']}
        rows={[
          [
            'needs SYS_ADMIN: mounts, FUSE, Docker in Docker, Flatpak',
            'It gets “permission denied”',
            'Unpack an AppImage with --appimage-extract, and put the rest into the image',
          ],
          [
            'is a browser or Electron',
            "Chromium's sandbox needs SYS_ADMIN, so it doesn't start",
            'Start it with --no-sandbox',
          ],
          [
            "starts as root and changes its user: gosu, su-exec, sudo, s6 as in LinuxServer's images, apt-get",
            'It gets “operation not permitted”. So does chown',
            'Set USER, and install and chown while you build',
          ],
          [
            'has the Unreal Engine: AirSim, Project AirSim, CARLA',
            'It refuses to run as root',
            'Set USER to any other user',
          ],
          [
            'shares memory: Fast DDS, Chromium, PyTorch',
            "/dev/shm has a quarter of the machine's memory, at least 1 GB",
            'Nothing',
          ],
          [
            'runs a program from /data',
            'Every file there may be run and written by every user. chmod and chown change nothing',
            'Nothing. Keep keys that must be private, as SSH wants them, elsewhere',
          ],
          [
            'makes links in /data: a venv, colcon with --symlink-install, a git repository with links',
            'Symbolic links, hard links, and named pipes fail there',
            'Work in another folder, and copy what you want to keep to /data',
          ],
        ]}
      />

      <Heading id="fast">An image that starts fast</Heading>
      <p>
        Most of a start is loading the image, which is free but takes time: 20 GB are minutes. So leave out what you
        need only to build, and pack it with zstd, which unpacks about half as fast again as gzip and is a little
        smaller:
      </p>
      <Code>{ZSTD}</Code>
      <p>
        Docker's <code>docker</code> driver can't do that: run <code>docker buildx create --use</code> once. While your
        server starts, the dashboard says how much is loaded, and after {FEWEST_WAITS} starts, how long it usually
        takes.
      </p>
    </Doc>
  )
}
