import { useEffect, useRef, useState } from 'react'
import { announce } from '../announce.ts'
import { request } from '../request.ts'
import { chosenFor, type Picked, pickedFrom } from './chosen-files.ts'
import { put } from './put.ts'
import type { Line } from './send-file.ts'
import { announcementOf } from './Uploads.tsx'
import { UploadQueue } from './upload-queue.ts'
import { wait } from './wait.ts'

/** Rarely needed, so it loads on demand. */
const holds: Line['holds'] = async (...given) => (await import('./read-content.ts')).isAt(...given)

/** This page's uploads, which continue while the person looks at other folders. */
export function useUploads(path: string, reload: () => void, pauseMs: () => number) {
  const latest = useRef({ path, reload })
  latest.current = { path, reload }
  const [refused, setRefused] = useState<string[]>([])
  const timer = useRef(0)
  const [queue] = useState(() => {
    const onEnd = (uploaded: string) => {
      if (!uploaded.startsWith(latest.current.path) || timer.current) return
      timer.current = window.setTimeout(() => {
        timer.current = 0
        latest.current.reload()
      }, pauseMs())
    }
    return new UploadQueue({ request, put, holds, wait }, onEnd)
  })

  useEffect(() => {
    let said: string | null = null
    const stay = (event: BeforeUnloadEvent) => {
      if (queue.seen().active) event.preventDefault()
    }
    const unsubscribe = queue.subscribe(() => {
      const words = announcementOf(queue.seen())
      if (words !== null && words !== said) announce(words)
      said = words ?? said
    })
    window.addEventListener('beforeunload', stay)
    return () => {
      unsubscribe()
      window.removeEventListener('beforeunload', stay)
      queue.pause()
    }
  }, [queue])

  const choose = (picked: Picked[], folder = latest.current.path) => {
    const { chosen, refused } = chosenFor(folder, picked)
    setRefused(refused)
    queue.add(chosen)
  }
  return {
    queue,
    refused,
    choose,
    drop: (dropped: DataTransfer) => {
      // They may open another folder while a large one is listed.
      const { path } = latest.current
      void pickedFrom(dropped).then((picked) => choose(picked, path))
    },
    pause: (id?: number) => queue.pause(id),
    resume: (id?: number) => queue.resume(id),
    remove: (id?: number) => queue.remove(id),
  }
}
