# Calls the functions of a recipe in Ruby, as lines of JSON tell it.
require 'json'
require_relative 'recipe'

def perform(told)
  { result: send(told['call'], *arguments(told)) }
rescue StandardError => e
  { error: e.inspect, ended: ended(e) }
end

# An application may pass on what to_hash returned, whose keys are symbols in new versions, or what it stored as JSON.
def arguments(told)
  told['call'] == 'disconnect' ? told['args'].map { |tokens| tokens.transform_keys(&:to_sym) } : told['args']
end

$stdin.each_line do |line|
  puts JSON.generate(perform(JSON.parse(line)))
  $stdout.flush
end
