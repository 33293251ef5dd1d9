import { useState } from 'react'
import { gpusOfType, machinesOf, machineText } from '../../domain/machine.ts'
import type { Availability, Machine } from '../../domain/wire/fleet.ts'
import { request } from '../request.ts'
import { FORM } from './ByForm.tsx'

const NAME = 'max_gpus'

/** The smaller machine that the user chose; nothing for the largest. */
export function chosenMachine(): { max_gpus?: number } {
  const gpus = Number(document.querySelector<HTMLInputElement>(`[name=${NAME}]:checked`)?.value)
  return gpus ? { max_gpus: gpus } : {}
}

/** Calls back with what would start now, once there is an answer. */
export async function findMachines(onFound: (machines: Machine[]) => void): Promise<void> {
  const { body } = await request<Partial<Availability>>('GET', '/api/v1/aws/server_available')
  if (body.candidates) onFound(machinesOf(body.candidates))
}

/** What would start now. If the plan includes several sizes, users may choose a smaller one. Checks again when opened. */
export function MachineChoice({ machines }: { machines: Machine[] }) {
  const [shown, setShown] = useState(machines)
  const [first] = shown
  return (
    <details className="fold" onToggle={(event) => event.currentTarget.open && void findMachines(setShown)}>
      <summary>Machine</summary>
      {shown.length > 1 ? (
        <fieldset className="plain-list" aria-label="Machine">
          {shown.map((machine, i) => (
            <label key={machine.instance_type} className="check">
              <input
                type="radio"
                name={NAME}
                form={FORM}
                value={i ? (gpusOfType(machine.instance_type) ?? '') : ''}
                defaultChecked={!i}
              />
              <span>{textOf(machine)}</span>
            </label>
          ))}
        </fieldset>
      ) : (
        <p>{first ? textOf(first) : 'No machine is free right now.'}</p>
      )}
    </details>
  )
}

const textOf = (machine: Machine) => machineText(machine.instance_type, machine.availability_zone)
