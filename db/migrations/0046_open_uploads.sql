ALTER TABLE `file_folders` ADD `parts_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `file_uploads` ADD `counts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `file_uploads` ADD `ended_at` integer;--> statement-breakpoint
UPDATE `file_uploads` SET `counts` = `size`;
