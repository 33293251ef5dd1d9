import { useEffect, useState } from 'react'
import { gpusOfType } from '../../domain/machine.ts'
import { readyText } from '../../domain/start-time.ts'
import type { DashboardView } from '../../domain/views.ts'
import type { Server } from '../../domain/wire.ts'
import { chosenMachine } from './MachineChoice.tsx'
import { chosenWorld, firstEnvironment } from './WorldChoice.tsx'

/**
 * How long a start of what the user chose usually takes, in a sentence; and what to call when they choose something else.
 * @param canChoose whether the choices are there: they return as they were at first
 */
export function useStartTime(
  { startTimes, machines, worlds }: Pick<DashboardView, 'startTimes' | 'machines' | 'worlds'>,
  servers: Server[],
  canChoose: boolean,
): [text: string, onChange: () => void] {
  const [chosen, setChosen] = useState<{ environment?: string; max_gpus?: number }>({})
  useEffect(() => setChosen({}), [canChoose])
  const environment = chosen.environment ?? firstEnvironment(worlds, servers) ?? ''
  const [first] = machines
  const machine = machines.find(({ instance_type }) => gpusOfType(instance_type) === chosen.max_gpus) ?? first
  const text = machine ? readyText(startTimes[environment]?.[machine.instance_type]) : ''
  return [text, () => setChosen({ ...chosenWorld(), ...chosenMachine() })]
}
