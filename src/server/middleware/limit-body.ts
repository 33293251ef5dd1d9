import { bodyLimit } from 'hono/body-limit'
import { AppError } from '../../domain/error.ts'

export const MAX_BODY_BYTES = 64 * 1024

export const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new AppError('too_large', 'The request is larger than 64 KiB.')
  },
})
