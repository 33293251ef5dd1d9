import type { AlarmStorage } from '../../src/server/channel/job-alarm.ts'

/** A Durable Object's storage, in memory. It outlives the processes of a test. */
export class KeptStorage {
  values = new Map<string, unknown>()
  alarm: number | null = null
}

/** The storage as one process sees it. A killed process stores nothing. */
export function storageOf(kept: KeptStorage, alive: () => void): AlarmStorage {
  return {
    async get(key: string) {
      alive()
      return kept.values.get(key)
    },
    async put(entries: Record<string, unknown>) {
      alive()
      for (const [key, value] of Object.entries(entries)) kept.values.set(key, value)
    },
    async getAlarm() {
      alive()
      return kept.alarm
    },
    async setAlarm(time: number | Date) {
      alive()
      kept.alarm = Number(time)
    },
    async deleteAlarm() {
      alive()
      kept.alarm = null
    },
  }
}
