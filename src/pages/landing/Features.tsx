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
    text: 'Physics and sensors advance in fixed time steps, so that a run can be repeated and two runs can be compared.',
    picture: <TimeSteps />,
  },
  {
    title: 'Cloud sessions',
    text: 'A server of your own with an NVIDIA L4. Startup is free: you pay only from the second it answers until you stop it.',
    picture: <SessionTimeline />,
  },
  {
    title: 'Vehicle types',
    text: 'Drones (UAV) and ground vehicles (UGV): one at a time on Basic, several in one world on Premium.',
    picture: <Vehicles />,
  },
  {
    title: 'Tools and SDKs',
    text: 'A web interface on port 5173 of each server, a JSON API to start and stop, and job events over a WebSocket.',
    picture: <pre className="terminal">{TERMINAL}</pre>,
  },
]

export function Features() {
  return (
    <Section id="features" label="Features" title="A server, a world, a vehicle, and the bill to the second">
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
