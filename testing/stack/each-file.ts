import { afterAll, vi } from 'vitest'
import { endAll } from './at-end.ts'

// Vitest runs these before each test file, so they come after the file's own hooks.
afterAll(endAll)
// Files share a worker: under the timers that one left faked, the next would wait forever.
afterAll(() => void vi.useRealTimers())
