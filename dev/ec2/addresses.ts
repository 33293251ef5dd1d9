// Each slot has an address in 127.64.0.0/10, which is loopback, and one in 10.64.0.0/10.
// The last number is 1 to 254, as in a real subnet.
const perBlock = 254
const capacity = 64 * 256 * perBlock

function dotted(network: number, slot: number): string {
  const block = Math.floor(slot / perBlock)
  return `${network}.${64 + Math.floor(block / 256)}.${block % 256}.${(slot % perBlock) + 1}`
}

export const publicAddress = (slot: number): string => dotted(127, slot)
export const privateAddress = (slot: number): string => dotted(10, slot)

/** The stack's first address slot. It depends on the site's port, so stacks on one machine don't collide. */
export const firstSlotOf = (sitePort: number): number => (sitePort % 4096) * perBlock

/**
 * The lowest free slot from `first` up. Low slots need fewer loopback aliases on macOS.
 * A slot stays taken while EC2 describes its instance, so an address never changes hands right away.
 */
export function lowestFreeSlot(taken: ReadonlySet<number>, first = 0): number {
  for (let i = 0; i < capacity; i++) {
    const slot = (first + i) % capacity
    if (!taken.has(slot)) return slot
  }
  throw new Error('All loopback addresses of the EC2 stand-in are taken.')
}
