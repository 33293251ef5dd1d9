// An instance's place in two address ranges: 127.64.0.0/10, which this machine answers itself, and 10.64.0.0/10.
// Last numbers run from 1 to 254, as in a real subnet.
const perBlock = 254
const capacity = 64 * 256 * perBlock

function dotted(network: number, slot: number): string {
  const block = Math.floor(slot / perBlock)
  return `${network}.${64 + Math.floor(block / 256)}.${block % 256}.${(slot % perBlock) + 1}`
}

export const publicAddress = (slot: number): string => dotted(127, slot)
export const privateAddress = (slot: number): string => dotted(10, slot)

/** Where the addresses of this stack begin, so that two stacks on one machine do not take each other's. */
export const firstSlotOf = (sitePort: number): number => (sitePort % 4096) * perBlock

/**
 * The lowest free place from `first` on: low, because a machine that needs an alias for every loopback address (macOS) then needs few.
 * A place stays taken as long as its instance is described, so no address moves to another instance at once.
 */
export function lowestFreeSlot(taken: ReadonlySet<number>, first = 0): number {
  for (let i = 0; i < capacity; i++) {
    const slot = (first + i) % capacity
    if (!taken.has(slot)) return slot
  }
  throw new Error('All loopback addresses of the EC2 stand-in are taken.')
}
