import { afterAll } from 'vitest'
import { endAll } from './at-end.ts'

// Vitest runs this before each test file, so it comes after the file's own hooks.
afterAll(endAll)
