import { useEffect, useState } from 'react'
import { gpusOfType } from '../../domain/machine.ts'
import { readyText, startTimeOf } from '../../domain/start-time.ts'
import type { DashboardView } from '../../domain/views.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { chosenMachine, findMachines } from './MachineChoice.tsx'
import { chosenWorld, firstEnvironment } from './WorldChoice.tsx'

/**
 * How long a start of the user's choice usually takes, in a sentence; and what to call when they change that choice.
 * @param canChoose whether the choices are shown: they reappear as they were at first
 * @param readAt when the rest of the page was last read: warm machines come and go, so we look again
 */
export function useStartTime(
  { startTimes, worlds, ...props }: Pick<DashboardView, 'startTimes' | 'machines' | 'worlds'>,
  servers: Server[],
  canChoose: boolean,
  readAt: number,
): [text: string, onChange: () => void] {
  const [chosen, setChosen] = useState<{ environment?: string; max_gpus?: number }>({})
  const [machines, setMachines] = useState(props.machines)
  useEffect(() => setChosen({}), [canChoose])
  useEffect(() => {
    if (canChoose && readAt) void findMachines(setMachines)
  }, [canChoose, readAt])
  const environment = chosen.environment ?? firstEnvironment(worlds, servers) ?? ''
  const [first] = machines
  const machine = machines.find(({ instance_type }) => gpusOfType(instance_type) === chosen.max_gpus) ?? first
  const text = machine ? readyText(startTimeOf(startTimes, environment, machine)) : ''
  return [text, () => setChosen({ ...chosenWorld(), ...chosenMachine() })]
}
