import { addEnvironment, changeEnvironment, listCatalog, retireEnvironment } from '../src/server/fleet/catalog.ts'
import type { Hand } from '../src/server/runtime/audit.ts'

type Values = { description?: string; image?: string; from?: string; position?: string }

/** What `npm run fleet` does to the catalog of environments, by command. */
export const ENVIRONMENT_COMMANDS = {
  async 'add-environment'(hand: Hand, name: string, { description = '', image, from = 'demo', position }: Values) {
    await addEnvironment(hand, {
      name,
      description,
      image: image ?? null,
      from,
      position: position === undefined ? null : Number(position),
    })
    return `Added ${name}. People can choose it now.`
  },
  async 'change-environment'(hand: Hand, name: string, { description, image, from, position }: Values) {
    await changeEnvironment(hand, name, {
      ...(description !== undefined && { description }),
      ...(image !== undefined && { image: image === 'machine' ? null : image }),
      ...(from !== undefined && { from }),
      ...(position !== undefined && { position: Number(position) }),
    })
    return `${name} is changed, from the next start on.`
  },
  async 'retire-environment'(hand: Hand, name: string) {
    await retireEnvironment(hand, name)
    return `${name} is retired. What runs in it keeps running.`
  },
}

/** Rows to print, the header first. */
export async function environmentRows(hand: Hand): Promise<string[][]> {
  const lines = await listCatalog(hand)
  return [
    ['NAME', 'PLANS', 'IMAGE', 'POSITION', 'RETIRED', 'DESCRIPTION'],
    ...lines.map(({ name, plans, image, position, retiredAt, description }) => [
      name,
      plans.join(','),
      image ?? '(machine)',
      String(position),
      retiredAt ?? '',
      description,
    ]),
  ]
}
