ALTER TABLE `file_folders` ADD `over_since` integer;--> statement-breakpoint
ALTER TABLE `file_folders` ADD `over_delete_at` integer;--> statement-breakpoint
ALTER TABLE `file_folders` ADD `over_told` integer;