/** The film's chapters, with the second each begins. `npm run film` records them. */
export const CHAPTERS: { from: number; name: string; text: string }[] = [
  { from: 0, name: 'Start', text: 'Press Start Server and watch your GPU server come up. Startup is free.' },
  { from: 6, name: 'Fly', text: 'Open the simulator in your browser and fly the course.' },
  { from: 11, name: 'Stop', text: 'Stop when you’re done. You see at once what the run cost.' },
  { from: 16, name: 'Pay', text: 'Your bill lists every run, to the second.' },
]
/** In seconds. */
export const LENGTH = 21
/** The moment of the still picture. */
export const STILL = 5.5

/** Phones get a film of a phone. Width and height in pixels. */
export const SHAPES = { wide: [1088, 680], tall: [672, 896] } as const
