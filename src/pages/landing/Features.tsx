import type { ReactNode } from 'react'
import { SessionTimeline, TimeSteps, Vehicles } from './diagrams.tsx'
import { Section } from './Section.tsx'

const TERMINAL = `> POST /api/v1/aws/auto_cloud_start_request
< 202 {"job_id":"job_…","errors":[]}
< /cable  job.updated  running
< /cable  job.updated  succeeded
> open http://IP:5173`

const FEATURES: { title: string; text: string; picture: ReactNode }[] = [
  {
    title: 'Simulation engine',
    text: 'Fixed-step physics and sensors: repeat a run exactly, then change one thing and compare the two.',
    picture: <TimeSteps />,
  },
  {
    title: 'Cloud sessions',
    text: 'Your own NVIDIA L4 server. Startup is free: you pay only from the second it answers until you stop it.',
    picture: <SessionTimeline />,
  },
  {
    title: 'Vehicle types',
    text: 'Fly drones (UAV) and drive ground vehicles (UGV): one at a time on Basic, several in one world on Premium.',
    picture: <Vehicles />,
  },
  {
    title: 'Tools and SDKs',
    text: 'A web interface on port 5173 of every server, a JSON API to start and stop, and live job events over a WebSocket.',
    picture: <pre className="terminal">{TERMINAL}</pre>,
  },
]

export function Features() {
  return (
    <Section id="features" label="Features" title="Everything you need to test autonomy, billed by the second">
      <ul className="features">
        {FEATURES.map(({ title, text, picture }) => (
          <li key={title}>
            {picture}
            <h3>{title}</h3>
            <p className="muted">{text}</p>
          </li>
        ))}
      </ul>
    </Section>
  )
}
