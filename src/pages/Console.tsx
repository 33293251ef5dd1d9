import { Console as ConsoleIsland, type ConsoleProps } from '../islands/Console.tsx'
import { ConsoleTabs } from './console/ConsoleTabs.tsx'
import { Island } from './Island.tsx'

export function Console(props: ConsoleProps) {
  return (
    <div className="page page-wide console">
      <ConsoleTabs here="/console" />
      <Island name="Console" of={ConsoleIsland} props={props} />
    </div>
  )
}
